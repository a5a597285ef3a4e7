-- Nine parallel workers for a scan of each partition of lineorder: as many as the report's plain
-- table got at scale factor 100, and as its hint asked for (2020 §6.5.5.3).
DO $$
DECLARE
  part regclass;
BEGIN
  FOR part IN SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'lineorder'::regclass LOOP
    EXECUTE format('ALTER TABLE %s SET (parallel_workers = 9)', part);
  END LOOP;
END
$$;
