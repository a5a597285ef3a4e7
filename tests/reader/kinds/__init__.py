"""The sentences of each kind of workload, a file of its own each."""
