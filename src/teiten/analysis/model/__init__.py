"""Findings of the analysis as frozen values, from which reports and exports are made."""
