"""Cautions about what could disturb or limit a measurement. Pure: facts in, cautions out."""
