\set kind random(1, 1000)
INSERT INTO journal (kind, message)
SELECT :kind, string_agg('{"id": ' || :kind + i || ', "channel": "web", "status": "open"}', ', ') FROM generate_series(1, 200) AS i;
