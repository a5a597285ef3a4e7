-- Every account: a scan, parallel where the server may.
SELECT bid, count(*), avg(length(filler)) FROM pgbench_accounts GROUP BY bid ORDER BY bid
