-- Rewrites the filler of one random account. No index covers filler, so with a fillfactor of 80
-- the new version of the row finds room in its page (a HOT update).
\set account random(1, 100000 * :scale)
UPDATE pgbench_accounts SET filler = repeat(md5(now()::text), 2) WHERE aid = :account;
