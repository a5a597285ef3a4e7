\set first random(1, 190000)
SELECT sum(amount * amount / (amount + 1)) FROM orders WHERE id BETWEEN :first AND :first + 4999;
