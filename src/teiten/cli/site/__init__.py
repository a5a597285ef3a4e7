"""``teiten site``: campaigns to a folder of pages, made anew only where something changed."""
