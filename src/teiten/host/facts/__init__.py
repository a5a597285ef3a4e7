"""Facts of the machine. Nothing is decided here."""
