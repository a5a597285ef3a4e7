-- One row, whose time is mostly that of planning: the test that the report leaves to its readers (2013 §3.6).
SELECT * FROM access_log WHERE "date" = '2014-01-15' AND "time" = '12:00';
