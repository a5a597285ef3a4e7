"""Execution plans in words, tables and the viewer pev2."""
