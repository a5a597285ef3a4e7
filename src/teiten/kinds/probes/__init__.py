"""Probes: one part of the server at a time, in a state that is made and then verified.

A workload of queries asks how fast a query is; a probe asks what one mechanism costs: a page that
is in the shared buffers, one that is in the page cache, one that is on the disk, a clock sweep, a
checkpoint's search for dirty pages. It is a file of data (``catalogue/NAME.toml``, or one beside
the user's study): steps that make a state, verify it, and time statements in it. One more probe is
one more file. What each field means to somebody who analyses it: ``docs/design/probes.md``.
"""
