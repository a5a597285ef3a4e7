-- A table whose partitions each have a thousand numbers, and three indexes: with its own, four relations. It is empty:
-- what is asked is what partitions cost, not rows.
CREATE TABLE parted (id bigint NOT NULL, ref bigint NOT NULL, at timestamp NOT NULL, PRIMARY KEY (id))
    PARTITION BY RANGE (id);
CREATE INDEX parted_ref ON parted (ref);
CREATE INDEX parted_at ON parted (at);
-- So many partitions, each committed by itself: no transaction takes a lock on all of them.
CREATE PROCEDURE make_partitions(wanted integer) LANGUAGE plpgsql AS $$
BEGIN
    FOR one IN 0 .. wanted - 1 LOOP
        EXECUTE format('CREATE TABLE parted_%s PARTITION OF parted FOR VALUES FROM (%s) TO (%s)',
                       one, one * 1000::bigint, (one + 1) * 1000::bigint);
        COMMIT;
    END LOOP;
END
$$;
