"""Objects that verbs print with ``--json``, each stated once, as a dataclass that gives the object
and its schema."""
