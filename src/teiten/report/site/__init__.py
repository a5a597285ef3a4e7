"""A site of many campaigns: static pages that any host can serve."""
