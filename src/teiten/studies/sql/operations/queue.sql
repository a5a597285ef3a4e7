BEGIN;
INSERT INTO jobs (payload) VALUES ('the next job of a queue');
UPDATE jobs SET done = true
WHERE id = (SELECT id FROM jobs WHERE NOT done ORDER BY id FOR UPDATE SKIP LOCKED LIMIT 1);
COMMIT;
