\set first random(1, 190000)
WITH recent AS (
    SELECT customer, amount FROM orders WHERE id BETWEEN :first AND :first + 1999
), sums AS (
    SELECT customer, sum(amount) AS total FROM recent GROUP BY customer
)
SELECT c.name, s.total FROM sums AS s JOIN customers AS c ON c.id = s.customer ORDER BY s.total DESC LIMIT 10;
