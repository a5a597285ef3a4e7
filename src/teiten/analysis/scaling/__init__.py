"""How throughput grows with load, and what limits it (METHOD.md, Scaling, Bottlenecks)."""
