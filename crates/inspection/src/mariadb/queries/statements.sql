-- time
SELECT round(unix_timestamp(now(3)) * 1000), @@innodb_page_size,
    @@performance_schema AS steelbench_queries

-- columns of digests
SELECT column_name AS steelbench_queries
FROM information_schema.columns
WHERE table_schema = 'performance_schema'
    AND table_name = 'events_statements_summary_by_digest'

-- consumer of CPU times
SELECT name AS steelbench_queries
FROM performance_schema.setup_consumers
WHERE name = 'events_statements_cpu' AND enabled = 'YES'

-- lost digests
SELECT variable_value AS steelbench_queries
FROM performance_schema.global_status
WHERE variable_name = 'Performance_schema_digest_lost'

-- use of tables
SELECT enabled AS steelbench_queries, (SELECT round((unix_timestamp() - variable_value) * 1000)
    FROM performance_schema.global_status WHERE variable_name = 'Uptime')
FROM performance_schema.setup_instruments
WHERE name = 'wait/io/table/sql/handler'
