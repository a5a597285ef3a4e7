"""The size and the style of the source in figures: lines, vague names, docstrings, imports.

``python -m benchmarks.house [--against COMMIT] [--arrows]``
"""
