"""What the machine is. Nothing is decided here."""
