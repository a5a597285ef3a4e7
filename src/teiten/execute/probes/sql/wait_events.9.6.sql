-- pg_stat_activity without its joins. A backend without a wait event is on a core, or wants one.
SELECT coalesce(wait_event_type || ':' || wait_event, 'CPU'), count(*)::int4
  FROM pg_catalog.pg_stat_get_activity(NULL)
 WHERE state IN ('active', 'fastpath function call')
   AND pid <> pg_catalog.pg_backend_pid()
 GROUP BY 1
