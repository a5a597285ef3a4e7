-- The gate's tables: made once, and copied for every start.
CREATE EXTENSION word_count;
CREATE TABLE pages (id integer PRIMARY KEY, body text NOT NULL);
INSERT INTO pages
    SELECT id, repeat('some words of a page, ', 50 + id % 100) FROM generate_series(1, 1000) AS id;
