"""A gate: its sides, and its answer for people, for a pull request, and as annotations."""
