"""Where servers run, as far as a plan is concerned: the only room of it that asks."""
