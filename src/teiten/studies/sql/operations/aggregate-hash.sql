\set first random(1, 150000)
SELECT customer, sum(amount) FROM orders WHERE id BETWEEN :first AND :first + 19999 GROUP BY customer HAVING sum(amount) > 1900;
