"""Old and new statements of the same workload."""
