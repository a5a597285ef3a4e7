"""The steps of a procedure on a server."""
