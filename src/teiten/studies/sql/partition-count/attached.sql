DO $$
DECLARE one record;
BEGIN
    FOR one IN SELECT * FROM candidates LOOP
        EXECUTE format('ALTER TABLE parted ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', one.name, one.low, one.high);
    END LOOP;
END
$$;
