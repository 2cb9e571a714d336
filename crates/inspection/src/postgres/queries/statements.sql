-- time
SELECT /* steelbench_queries */
    (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000)::int8,
    pg_catalog.current_setting('block_size')

-- running statements
SELECT /* steelbench_queries */ query_id, query,
    CASE state WHEN 'active' THEN coalesce(wait_event_type || ':' || wait_event, 'CPU') END
FROM pg_catalog.pg_stat_activity
WHERE query_id IS NOT NULL AND backend_type = 'client backend'
    AND pid <> pg_catalog.pg_backend_pid() AND query NOT LIKE '%steelbench_queries%'

-- other databases
SELECT /* steelbench_queries */ datname
FROM pg_catalog.pg_database
WHERE datallowconn AND NOT datistemplate
    AND pg_catalog.has_database_privilege(oid, 'CONNECT')
    AND datname <> pg_catalog.current_database()
ORDER BY datname
