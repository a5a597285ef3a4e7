"""PostgreSQL built from source: an installation like those from packages."""
