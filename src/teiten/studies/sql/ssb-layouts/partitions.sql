-- lineorder by lo_orderdate and date by d_datekey, each as 84 partitions by month (2020, table 6.21).
-- A day is a number such as 19920131, so a partition goes from the first of a month to the first of
-- the next. The rows are moved in one pass; both forms are on the disk until the transaction ends.
DO $$
DECLARE
  name text;
  key text;
  month date;
BEGIN
  FOR name, key IN VALUES ('lineorder', 'lo_orderdate'), ('date', 'd_datekey') LOOP
    EXECUTE format('ALTER TABLE %I RENAME TO %I', name, name || '_whole');
    EXECUTE format('CREATE TABLE %I (LIKE %I) PARTITION BY RANGE (%I)',
                   name, name || '_whole', key);
    FOR month IN SELECT generate_series(date '1992-01-01', date '1998-12-01', interval '1 month') LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%s) TO (%s)',
                     name || to_char(month, '_YYYYMM'), name,
                     to_char(month, 'YYYYMMDD'),
                     to_char(month + interval '1 month', 'YYYYMMDD'));
    END LOOP;
    EXECUTE format('INSERT INTO %I SELECT * FROM %I', name, name || '_whole');
    EXECUTE format('DROP TABLE %I', name || '_whole');
  END LOOP;
END
$$;
