"""A campaign's numbers as files for other programs."""
