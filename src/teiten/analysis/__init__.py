"""From trials to verdicts: pure functions of values; the room of METHOD.md's statistics."""
