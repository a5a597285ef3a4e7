-- A trigger whose INSERTs are all written out: a chain of conditions, one for each partition (2013 §3.4.1).
DO $$
BEGIN
    EXECUTE (
        SELECT 'CREATE FUNCTION log_insert() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN '
            || string_agg(format('IF NEW."date" = date %L THEN INSERT INTO %I VALUES (NEW.*);', day, partition),
                          ' ELS' ORDER BY day)
            || ' ELSE RAISE EXCEPTION ''no partition for %'', NEW."date"; END IF; RETURN NULL; END $body$'
        FROM log_days);
END
$$;
CREATE TRIGGER log_insert BEFORE INSERT ON log FOR EACH ROW EXECUTE PROCEDURE log_insert();
