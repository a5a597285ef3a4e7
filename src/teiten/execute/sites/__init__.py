"""Where trials run: one folder for each kind of place, behind one contract."""
