"""Probes: one part of the server at a time, in a state that is made and then verified.

A workload of queries asks how fast a query is; a probe asks what one mechanism costs: a page that
is in the shared buffers, one that is in the page cache, one that is on the disk, a clock sweep, a
checkpoint's search for dirty pages. It is a file of data (``catalogue/NAME.toml``, or one beside
the user's study): steps that make a state, verify it, and time statements in it. A ninth probe is a
ninth file.

Where what stands:

``model.py``        a probe and its steps, and the options of a workload
``metrics.py``      the numbers that a trial has one of each
``measurement.py``  everything else that a trial measured, statement by statement: its values, their
                    form in the ledger, and ``measurement_of``, which reads it back
``plan.py``         the kind before anything runs
``read.py``         a probe's file to a ``Probe``
``run.py``          the load: the steps of a probe on a server (``load/``: each step's own part)
``catalogue/``      the eight probes of the 2021 study

What each field means to somebody who analyses it: ``docs/design/probes.md``.
"""
