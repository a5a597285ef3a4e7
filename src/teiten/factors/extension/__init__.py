"""The version of an extension, of the same binaries."""
