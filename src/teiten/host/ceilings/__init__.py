"""What the machine can do at the most, measured."""
