"""Kinds of workloads: a folder each, one file for each stage (docs/design/architecture.md)."""
