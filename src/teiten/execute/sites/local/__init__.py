"""Clusters on this machine, cloned from templates."""
