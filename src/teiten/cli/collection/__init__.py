"""A collection on the command line: planned, carried out, told."""
