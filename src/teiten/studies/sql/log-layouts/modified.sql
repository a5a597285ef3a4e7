-- One row of every page is updated once, and not vacuumed: no such page is known to be visible any more.
UPDATE access_log SET access_count = access_count
WHERE ctid = ANY (ARRAY(
    SELECT format('(%s,1)', page)::tid
    FROM generate_series(0, pg_relation_size('access_log') / current_setting('block_size')::integer - 1) AS page));
