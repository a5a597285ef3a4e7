-- Dead rows as the server counts them, pages of the visibility map (NULL where pg_visibility is not installed), the transaction that holds back what may be removed,
-- what the planner knows of the tables: rows by its figures to rows by count (NULL where no server has counted them yet), and tables with a row in pg_statistic; and tables whose
-- rows are frozen as of a time before their columns were written into the catalogue, as only pg_upgrade leaves them.
WITH tables AS (
    SELECT c.oid, c.relfrozenxid, c.reltuples, c.reltoastrelid, pg_relation_size(c.oid) AS bytes
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'm') AND c.relpersistence = 'p'
      AND n.nspname NOT IN ('pg_catalog', 'information_schema')
), rows AS (
    SELECT sum(pg_stat_get_live_tuples(oid)) AS live, sum(pg_stat_get_dead_tuples(oid)) AS dead,
           sum(greatest(reltuples, 0)) AS known,
           count(*) FILTER (WHERE bytes > 0) AS filled,
           count(*) FILTER (
               WHERE bytes > 0 AND EXISTS (SELECT FROM pg_statistic WHERE starelid = oid)
           ) AS analysed,
           avg((age(relfrozenxid) > (
               SELECT min(age(a.xmin)) FROM pg_attribute a WHERE a.attrelid = tables.oid AND attnum > 0
           ))::integer) AS upgraded
    FROM tables
), pages AS (
    SELECT sum((pg_visibility_map_summary(oid)).all_visible) AS visible,
           sum(bytes / current_setting('block_size')::integer) AS all
    FROM tables
)
SELECT
    coalesce(dead::float8 / nullif(live + dead, 0), 0) AS dead_rows_share,
    visible::float8 / nullif(pages.all, 0)::float8 AS visible_pages_share,
    greatest(
        (SELECT coalesce(max(age(transaction)), 0) FROM pg_prepared_xacts),
        (SELECT coalesce(max(age(backend_xid)), 0) FROM pg_stat_activity WHERE pid <> pg_backend_pid())
    )::float8 AS oldest_transaction_age,
    coalesce(known / nullif(live, 0), CASE WHEN filled = 0 THEN 1 END)::float8 AS known_rows_share,
    coalesce(analysed::float8 / nullif(filled, 0), 1) AS analysed_tables_share,
    coalesce(upgraded, 0)::float8 AS upgraded_tables_share
FROM rows, pages
