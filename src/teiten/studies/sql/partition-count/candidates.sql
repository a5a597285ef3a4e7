-- Ten tables that can become partitions: with the same indexes, and a constraint that spares their being read.
CREATE TABLE candidates AS
SELECT format('candidate_%s', n) AS name, (1000000 + n) * 1000::bigint AS low, (1000001 + n) * 1000::bigint AS high
FROM generate_series(0, 9) AS n;
DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT * FROM candidates LOOP
        EXECUTE format('CREATE TABLE %I (LIKE parted INCLUDING ALL, CHECK (id >= %s AND id < %s))',
                       one.name, one.low, one.high);
    END LOOP;
END
$$;
