-- A trigger in C that keeps the plan for the last partition (2013 §3.4.1); compiled from log_insert.c.
CREATE FUNCTION log_insert() RETURNS trigger LANGUAGE c AS '{module}', 'log_insert';
CREATE TRIGGER log_insert BEFORE INSERT ON log FOR EACH ROW EXECUTE PROCEDURE log_insert();
