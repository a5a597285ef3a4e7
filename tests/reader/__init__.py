"""A reader of finished reports, written apart from what writes them.

It reads the text of a report, Markdown or HTML, in English or Japanese, and says which of its numbers
do not follow from the tables of that report and the campaign's trials. It shares no statistics and no
verdict with ``teiten``: only the values of a campaign (plan, trials, facts), and of the translation
files which text a sentence is, and the numbers that it has of itself.

Of any kind and way, by few rules. ``whole``: a report, read. Tables: ``evidence`` (a column is one
quantity of the trials), ``relations`` (numbers of a row follow from one another), ``tables`` (those of
contrasts), ``findings``. Sentences: ``figures`` (a number stands in a table, in JSON or in the plan,
and a word agrees with its sign), ``named`` and ``method`` (what it is by the place of its text),
``nouns`` (a count by the noun beside it), ``texts`` and ``within`` (words stand as some text has them),
``directions`` (no sentence is opposite to its intervals), ``functions``. JSON: ``contrasts``.

``campaign`` and ``arithmetic``: METHOD.md anew. ``across``, ``collected``: reports about several
campaigns; ``planted``: wrong numbers. The campaigns are drawn in ``tests/fixtures`` (``drawn``,
``drawn_kinds``, ``drawn_across``).
"""
