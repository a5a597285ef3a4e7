"""Claims of published findings: predicates that any study can use, and the catalogue's claims.

One file for each predicate, in ``predicates``; those about one kind of workload stand with it, in
``teiten.kinds.KIND.claims``.
"""
