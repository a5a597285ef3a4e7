-- Updates the first row of a share of the table's pages, spread evenly, once. A full page has no room for the new
-- version: that goes to a page of its own, and the old one stays until somebody prunes the page.
CREATE FUNCTION change_pages(share integer) RETURNS void LANGUAGE sql AS $$
    UPDATE pgbench_accounts SET abalance = abalance + 100
    WHERE ctid = ANY (ARRAY(
        SELECT format('(%s,1)', page)::tid
        FROM generate_series(0, pg_relation_size('pgbench_accounts')
                                / current_setting('block_size')::integer - 1) AS page
        WHERE page * 37 % 100 < share))
$$;
