"""A report without its scripts: what a reader without JavaScript sees, in a third of the bytes.

The charting library is a megabyte of each report, then come the numbers that it draws and those
that a click downloads. Charts stay as the pictures that every report has in their places. The
report's own notice for such readers says what is missing; it stands open here.
"""

from __future__ import annotations

import re

SCRIPT = re.compile(r"<script\b[^>]*>.*?</script>\n?", re.DOTALL)
"""Texts of a report are escaped: none begins or ends an element."""
NOTICE = re.compile(r"<noscript>(.*?)</noscript>", re.DOTALL)
SORTING = re.compile(r'(<th [^>]*>)<button type="button"[^>]*>(.*?)</button>', re.DOTALL)
SWITCH = re.compile(r'<button type="button" class="theme".*?</button>\n?', re.DOTALL)


def without_scripts(report: str) -> str:
    """``report``: HTML with pictures in its charts (``stills``)."""
    cut = SCRIPT.sub("", report)
    cut = NOTICE.sub(r"\1", cut)
    cut = SORTING.sub(r"\1\2", cut)
    return SWITCH.sub("", cut)
