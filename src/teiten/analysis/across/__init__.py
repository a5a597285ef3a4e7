"""Several campaigns together: two side by side, many as a line, and those of a search."""
