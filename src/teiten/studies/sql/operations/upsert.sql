\set product random(1, 6000)
INSERT INTO stock (product, available, reserved) VALUES (:product, 1000, 1)
ON CONFLICT (product) DO UPDATE SET reserved = stock.reserved + 1;
