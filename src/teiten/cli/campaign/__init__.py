"""A campaign on the command line: carried out, shown while it runs, read again."""
