-- How many accesses one day had before noon (2013 §3.4.2).
SELECT count("date") FROM access_log
WHERE "date" BETWEEN '2014-01-15' AND '2014-01-15' AND "time" BETWEEN '00:00' AND '12:00';
