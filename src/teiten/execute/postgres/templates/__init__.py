"""Templates: filled clusters, built once and cloned for trials."""
