"""The record of a campaign, from the first event to the last trial."""
