"""One file for each verb of the command line; its ``command`` is what click runs."""
