"""Plans that no server made, and plans of many nodes: what explain-diff does with them."""
