-- Every day of the access log, and the partition that has it.
CREATE VIEW log_days AS
SELECT day::date AS day, 'log_' || to_char(day, 'YYYYMMDD') AS partition
FROM generate_series((SELECT min("date") FROM access_log),
                     (SELECT max("date") FROM access_log), interval '1 day') AS day;
