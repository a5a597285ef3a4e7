-- The catalogues in shared buffers, read by another connection than the one that is measured.
EXPLAIN SELECT * FROM parted WHERE ref = 1;
