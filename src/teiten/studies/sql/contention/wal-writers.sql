\set kind random(1, 1000)
INSERT INTO journal (kind, message) SELECT :kind + i, 'one line of a journal, as long as such lines are' FROM generate_series(1, 20) AS i;
