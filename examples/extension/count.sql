\set first random(1, 900)
SELECT sum(word_count(body)) FROM pages WHERE id BETWEEN :first AND :first + 99;
