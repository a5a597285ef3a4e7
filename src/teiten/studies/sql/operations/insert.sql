\set kind random(1, 1000)
INSERT INTO journal (kind, message) VALUES (:kind, 'one line of a journal, as long as such lines are');
