-- A trigger that makes the INSERT for each row (2013 §3.4.1).
CREATE FUNCTION log_insert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'INSERT INTO log_' || to_char(NEW."date", 'YYYYMMDD') || ' SELECT ($1).*' USING NEW;
    RETURN NULL;
END
$$;
CREATE TRIGGER log_insert BEFORE INSERT ON log FOR EACH ROW EXECUTE PROCEDURE log_insert();
