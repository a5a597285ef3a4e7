"""Published findings against the results of a campaign (METHOD.md, Claims)."""
