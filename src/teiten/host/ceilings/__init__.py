"""The most that the machine can do, measured."""
