"""JSON schemas of what verbs print with ``--json``; ``registry`` knows them all."""
