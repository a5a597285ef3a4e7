-- A small shop: 20,000 customers, 200,000 orders with 600,000 lines, a queue of jobs, and measurements in
-- 200 partitions. All values follow from the row's number, so that every server has the same rows. About 230 MB.

CREATE TABLE customers (
    id integer PRIMARY KEY,
    region integer NOT NULL,
    name text NOT NULL,
    joined date NOT NULL
);
INSERT INTO customers
SELECT i, i % 50, 'customer ' || i, date '2015-01-01' + i % 3000
FROM generate_series(1, 20000) AS i;

CREATE TABLE orders (
    id integer PRIMARY KEY,
    customer integer NOT NULL,
    status smallint NOT NULL,
    placed timestamp NOT NULL,
    amount numeric(10, 2) NOT NULL,
    touched integer NOT NULL DEFAULT 0,
    attributes jsonb NOT NULL,
    words tsvector NOT NULL,
    note text NOT NULL
) WITH (fillfactor = 80);
INSERT INTO orders
SELECT
    i,
    1 + (i::bigint * 7919 % 20000)::integer,
    i % 5,
    timestamp '2024-01-01' + i * interval '1 minute',
    (i::bigint * 104729 % 100000) / 100.0,
    0,
    jsonb_build_object(
        'channel', CASE i % 3 WHEN 0 THEN 'web' WHEN 1 THEN 'shop' ELSE 'phone' END,
        'address', jsonb_build_object('zip', i % 10000, 'floor', i % 40)
    ),
    to_tsvector('simple', 'item' || i % 500 || ' colour' || i % 17 || ' maker' || i % 1300),
    repeat(chr(97 + i % 26), 60)
FROM generate_series(1, 200000) AS i;
CREATE INDEX orders_customer ON orders (customer);
CREATE INDEX orders_placed ON orders (placed);
CREATE INDEX orders_status_amount ON orders (status, amount);
CREATE INDEX orders_words ON orders USING gin (words);
CREATE INDEX orders_attributes ON orders USING gin (attributes jsonb_path_ops);

CREATE TABLE order_lines (
    order_id integer NOT NULL,
    line smallint NOT NULL,
    product integer NOT NULL,
    quantity integer NOT NULL,
    price numeric(8, 2) NOT NULL,
    PRIMARY KEY (order_id, line)
);
INSERT INTO order_lines
SELECT i, l, 1 + ((i::bigint * 31 + l * 977) % 5000)::integer, 1 + i % 9, (i * 13 + l) % 10000 / 100.0
FROM generate_series(1, 200000) AS i, generate_series(1, 3) AS l;

CREATE TABLE stock (
    product integer PRIMARY KEY,
    available integer NOT NULL,
    reserved integer NOT NULL
) WITH (fillfactor = 50);
INSERT INTO stock
SELECT i, 1000, 0 FROM generate_series(1, 5000) AS i;

CREATE TABLE payments (
    id bigserial PRIMARY KEY,
    order_id integer NOT NULL REFERENCES orders,
    customer integer NOT NULL REFERENCES customers,
    amount numeric(10, 2) NOT NULL
);

CREATE TABLE journal (
    id bigserial PRIMARY KEY,
    at timestamp NOT NULL DEFAULT now(),
    kind integer NOT NULL,
    message text NOT NULL
);
CREATE INDEX journal_kind ON journal (kind);

CREATE TABLE jobs (
    id bigserial PRIMARY KEY,
    done boolean NOT NULL DEFAULT false,
    payload text NOT NULL
);
INSERT INTO jobs (payload)
SELECT repeat('x', 80) FROM generate_series(1, 20000);
CREATE INDEX jobs_open ON jobs (id) WHERE NOT done;

CREATE TABLE measurements (
    day integer NOT NULL,
    sensor integer NOT NULL,
    reading double precision NOT NULL
) PARTITION BY RANGE (day);
DO $$
BEGIN
    FOR d IN 0..199 LOOP
        EXECUTE format(
            'CREATE TABLE measurements_%s PARTITION OF measurements FOR VALUES FROM (%s) TO (%s)', d, d, d + 1
        );
        EXECUTE format('CREATE INDEX measurements_%s_sensor ON measurements_%s (sensor)', d, d);
    END LOOP;
END
$$;
INSERT INTO measurements
SELECT d, s, (d * 17 + s) % 1000 / 10.0 FROM generate_series(0, 199) AS d, generate_series(1, 500) AS s;

-- A tenth of a day of the queue, for the states of the tables: as many jobs are put in as are taken.
CREATE FUNCTION day_of_churn(part integer) RETURNS void LANGUAGE sql AS $$
    INSERT INTO jobs (payload) SELECT repeat('x', 80) FROM generate_series(1, 4000);
    UPDATE jobs SET done = true
    WHERE id IN (SELECT id FROM jobs WHERE NOT done ORDER BY id LIMIT 4000);
$$;
