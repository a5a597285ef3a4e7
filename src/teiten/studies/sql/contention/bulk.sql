-- An empty table, and 2,000 rows for it in a file of the data directory, which every copy of the tables has: a COPY from a
-- relative path reads it there. About 16 MB with what the server itself takes.

CREATE TABLE bulk (
    id integer NOT NULL,
    kind integer NOT NULL,
    at timestamp NOT NULL,
    payload text NOT NULL
);
DO $$
BEGIN
    EXECUTE format(
        'COPY (SELECT i, i %% 100, timestamp ''2024-01-01'' + i * interval ''1 minute'', repeat(chr(97 + i %% 26), 60)'
        ' FROM generate_series(1, 2000) AS i) TO %L',
        current_setting('data_directory') || '/teiten-bulk-rows'
    );
END
$$;
