-- The average time of one day's accesses by product and error code (2013 §3.4.2).
SELECT product_name, err_code, avg(access_time_second)
FROM product_master, access_log
WHERE product_master.product_id = access_log.product_id
  AND "date" BETWEEN '2014-01-15' AND '2014-01-15'
GROUP BY product_master.product_name, access_log.err_code;
