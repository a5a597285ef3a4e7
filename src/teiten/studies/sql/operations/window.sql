\set first random(1, 190000)
SELECT max(share) FROM (
    SELECT amount / sum(amount) OVER (PARTITION BY customer % 100 ORDER BY id) AS share
    FROM orders WHERE id BETWEEN :first AND :first + 4999 AND amount > 0
) AS shares;
