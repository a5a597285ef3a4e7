"""Breaking Teiten on purpose: odd inputs, kills, signals and full disks, as programs to repeat."""
