\set product random_zipfian(1, 5000, 1.1)
UPDATE stock SET reserved = reserved + 1 WHERE product = :product;
