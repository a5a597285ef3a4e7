"""What each system can do, and how: processes, files, users, signals."""
