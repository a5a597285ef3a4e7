"""From what the trials of probes measured to what can be said of it; pure."""
