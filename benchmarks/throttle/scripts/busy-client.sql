-- The client computes (an exponent near 1 makes it draw again and again), and the server has next to
-- nothing to do.
\set number random_zipfian(1, 100, 1.001)
SELECT 1;
