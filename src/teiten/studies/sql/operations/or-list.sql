\set a random(1, 200000)
\set b random(1, 200000)
\set c random(1, 200000)
\set d random(1, 200000)
\set e random(1, 200000)
SELECT sum(amount) FROM orders WHERE id = :a OR id = :b OR id = :c OR id = :d OR id = :e;
