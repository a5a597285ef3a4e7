\set zip random(0, 9999)
SELECT id, attributes #>> '{address,floor}' FROM orders
WHERE attributes @> jsonb_build_object('address', jsonb_build_object('zip', :zip));
