"""Where the source of a version comes from: what a person names, a mirror, or the distribution."""
