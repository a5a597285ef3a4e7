"""Charts: pure functions from data to Vega-Lite specifications, drawn by the browser or to SVG."""
