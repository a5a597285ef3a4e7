"""What the analysis found, as frozen values: what reports and exports are made from."""
