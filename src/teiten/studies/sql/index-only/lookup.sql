-- One account by its key, and no column besides: the primary key alone can answer it.
\set aid random(1, 100000 * :scale)
SELECT aid FROM pgbench_accounts WHERE aid = :aid;
