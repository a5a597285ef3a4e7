"""From an analysis to what a report shows: text, tables and charts, in one language."""
