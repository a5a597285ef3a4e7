"""Tables of a known number of pages, as shares of the memory."""
