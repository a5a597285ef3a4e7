"""From pairs of trials to verdicts (METHOD.md, Pairs as the unit, When to stop, Verdicts)."""
