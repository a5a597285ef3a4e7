"""A reader of finished reports, written apart from what writes them (issue 11 §1).

It reads the text of a report, Markdown or HTML, in English or Japanese, and says what of it does
not follow from the tables of that report and the campaign's trials. It shares no statistics and no
verdict with ``teiten``: only the values of a campaign (plan, trials, facts), and of the translation
files the numbers that a text has of itself (``texts``).

``document``: a report as parts in the order of the page. ``arithmetic``: means, intervals and
verdicts of METHOD.md anew. ``campaign``: what is true of a campaign. ``language``: how patterns of
sentences are written, which stand in ``sentences``, a file for each language. ``kinds``: what
sentences on each kind of workload must hold. Of every kind and way, ``contrasts`` holds JSON with
its levels against the trials, and ``agreement`` answer, tables and JSON against one another.
``evidence`` reads the columns of any table by rules over trials, plans by node type (``plan_nodes``);
``relations`` the numbers of a row that follow from one another; ``figures`` the numbers of sentences
without a pattern, counts by the noun beside them (``nouns``). ``across`` draws and reads comparisons
and histories, ``collected`` collections and sites, which retell campaigns; ``whole`` is all of it.
"""
