"""The steps of a probe on a server."""
