-- The tables that tools/write_plan_corpus.py explains queries on: small, and the same in every run.
CREATE TABLE customers (id int PRIMARY KEY, region text, name text);
INSERT INTO customers SELECT g, 'r' || g % 5, 'customer ' || g FROM generate_series(1, 2000) g;
CREATE TABLE products (id int PRIMARY KEY, category int, label text);
INSERT INTO products SELECT g, g % 20, 'product ' || g FROM generate_series(1, 500) g;
CREATE TABLE sales (id int PRIMARY KEY, day date, customer int, product int, amount numeric, note text);
INSERT INTO sales SELECT g, date '2020-01-01' + (g * 7) % 360, 1 + (g * 37) % 2000, 1 + (g * 11) % 500,
    (g * 13) % 1000, 'note ' || g % 100 FROM generate_series(1, 40000) g;
CREATE INDEX sales_customer ON sales (customer);
CREATE INDEX sales_product ON sales (product);
CREATE INDEX sales_day ON sales (day);
CREATE TABLE tree (id int PRIMARY KEY, parent int);
INSERT INTO tree SELECT g, g / 2 FROM generate_series(1, 2000) g;
CREATE TABLE nothing (id int, label text);
CREATE TABLE wide (id int, doc text);
INSERT INTO wide SELECT g, repeat('Ünïcödé — 日本語 "quoted" \ ', 20) || g FROM generate_series(1, 200) g;
CREATE TABLE monthly (id int, day date, customer int, amount numeric) PARTITION BY RANGE (day);
CREATE TABLE days (day date, holiday boolean) PARTITION BY RANGE (day);
DO $$
BEGIN
  FOR m IN 0..11 LOOP
    EXECUTE format('CREATE TABLE monthly_%s PARTITION OF monthly FOR VALUES FROM (%L) TO (%L)', m,
      date '2020-01-01' + (m * 30), date '2020-01-01' + (m + 1) * 30);
    EXECUTE format('CREATE INDEX ON monthly_%s (day)', m);
    EXECUTE format('CREATE TABLE days_%s PARTITION OF days FOR VALUES FROM (%L) TO (%L)', m,
      date '2020-01-01' + (m * 30), date '2020-01-01' + (m + 1) * 30);
  END LOOP;
END $$;
INSERT INTO monthly SELECT id, day, customer, amount FROM sales;
INSERT INTO days SELECT date '2020-01-01' + g, g % 7 = 0 FROM generate_series(0, 359) g;
CREATE TABLE parent (id int PRIMARY KEY, label text);
INSERT INTO parent SELECT g, 'p' || g FROM generate_series(1, 100) g;
CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE, label text);
CREATE TABLE audit (label text);
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN NEW.label := NEW.label || '!'; RETURN NEW; END $$;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN INSERT INTO audit VALUES (NEW.label); RETURN NULL; END $$;
CREATE TRIGGER stamped BEFORE INSERT ON child FOR EACH ROW EXECUTE PROCEDURE stamp();
CREATE TRIGGER noted AFTER INSERT ON child FOR EACH ROW EXECUTE PROCEDURE note();
VACUUM (FREEZE, ANALYZE);
