"""From a study and flags to a plan for this machine, and the plan in words."""
