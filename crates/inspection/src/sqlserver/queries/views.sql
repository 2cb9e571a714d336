-- sys.dm_exec_query_stats
SELECT TOP (20000) /* steelbench_queries */ CONVERT(nvarchar(34), s.query_hash, 1) AS digest,
    CONVERT(nvarchar(130), s.plan_handle, 1) AS plan_handle,
    CONVERT(nvarchar(23), s.creation_time, 121) AS created,
    CAST(DATEDIFF(second, '20000101', s.creation_time) - ROUND(DATEDIFF(second, GETUTCDATE(),
    GETDATE()) / 900.0, 0) * 900 AS bigint) AS created_s,
    CAST(s.statement_start_offset AS int) AS begins,
    CAST(s.statement_end_offset AS int) AS ends, CAST(s.execution_count AS bigint) AS calls,
    CAST(s.total_elapsed_time AS bigint) AS elapsed_us,
    CAST(s.total_worker_time AS bigint) AS worker_us,
    CAST(s.min_elapsed_time AS bigint) AS min_us, CAST(s.max_elapsed_time AS bigint) AS max_us,
    CAST(s.total_rows AS bigint) AS total_rows,
    CAST(s.total_logical_reads AS bigint) AS logical_reads,
    CAST(s.total_physical_reads AS bigint) AS physical_reads,
    {CAST(s.total_spills AS bigint) AS spills,
    |}COALESCE(DB_NAME(COALESCE(d.dbid, t.dbid)), N'') AS database_name,
    CAST(SUBSTRING(t.text, s.statement_start_offset / 2 + 1, (CASE s.statement_end_offset WHEN
    -1 THEN DATALENGTH(t.text) ELSE s.statement_end_offset END - s.statement_start_offset) / 2 +
    1) AS nvarchar(4000)) AS statement_text
FROM sys.dm_exec_query_stats AS s
CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) AS t
OUTER APPLY (SELECT CAST(a.value AS int) AS dbid FROM sys.dm_exec_plan_attributes(s.plan_handle)
    AS a WHERE a.attribute = N'dbid') AS d
ORDER BY s.total_elapsed_time DESC

-- sys.indexes
SELECT /* steelbench_queries */ DB_NAME() AS database_name, s.name AS schema_name,
    o.name AS table_name, i.name AS index_name, CAST(i.object_id AS int) AS object_id,
    CAST(i.index_id AS int) AS index_id, CAST(i.type_desc AS nvarchar(60)) AS type_desc,
    CAST(i.is_unique AS int) AS is_unique, CAST(i.is_primary_key AS int) AS is_primary_key,
    CAST(i.is_unique_constraint AS int) AS is_unique_constraint,
    CAST(i.is_disabled AS int) AS is_disabled, i.filter_definition
FROM sys.indexes AS i
JOIN sys.tables AS o ON o.object_id = i.object_id
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
WHERE o.is_ms_shipped = 0
ORDER BY s.name, o.name, i.index_id

-- sys.index_columns
SELECT /* steelbench_queries */ CAST(x.object_id AS int) AS object_id,
    CAST(x.index_id AS int) AS index_id, n.name AS column_name,
    CAST(x.is_descending_key AS int) AS is_descending_key,
    CAST(x.is_included_column AS int) AS is_included_column
FROM sys.index_columns AS x
JOIN sys.columns AS n ON n.object_id = x.object_id AND n.column_id = x.column_id
ORDER BY x.object_id, x.index_id, x.is_included_column, x.key_ordinal, x.index_column_id

-- sys.dm_db_partition_stats
SELECT /* steelbench_queries */ CAST(object_id AS int) AS object_id,
    CAST(index_id AS int) AS index_id, CAST(used_page_count AS bigint) AS pages,
    CAST(row_count AS bigint) AS row_count
FROM sys.dm_db_partition_stats

-- sys.dm_db_index_usage_stats
SELECT /* steelbench_queries */ CAST(object_id AS int) AS object_id,
    CAST(index_id AS int) AS index_id,
    CAST(user_seeks + user_scans + user_lookups AS bigint) AS reads,
    CAST(user_scans AS bigint) AS scans
FROM sys.dm_db_index_usage_stats
WHERE database_id = DB_ID()

-- sys.dm_db_index_operational_stats
SELECT /* steelbench_queries */ CAST(object_id AS int) AS object_id,
    CAST(index_id AS int) AS index_id, CAST(leaf_insert_count AS bigint) AS inserts,
    CAST(leaf_update_count AS bigint) AS updates,
    CAST(leaf_delete_count + leaf_ghost_count AS bigint) AS deletes
FROM sys.dm_db_index_operational_stats(DB_ID(), NULL, NULL, NULL)

-- sys.dm_db_missing_index_group_stats
SELECT /* steelbench_queries */ CAST(d.object_id AS int) AS object_id,
    CAST(d.equality_columns AS nvarchar(4000)) AS equality_columns,
    CAST(d.inequality_columns AS nvarchar(4000)) AS inequality_columns,
    CAST(d.included_columns AS nvarchar(4000)) AS included_columns,
    CAST(s.user_seeks + s.user_scans AS bigint) AS uses,
    CAST(s.avg_total_user_cost AS float) AS cost, CAST(s.avg_user_impact AS float) AS impact
FROM sys.dm_db_missing_index_group_stats AS s
JOIN sys.dm_db_missing_index_groups AS g ON g.index_group_handle = s.group_handle
JOIN sys.dm_db_missing_index_details AS d ON d.index_handle = g.index_handle
WHERE d.database_id = DB_ID()

-- sys.dm_db_stats_properties
SELECT /* steelbench_queries */ CAST(s.object_id AS int) AS object_id,
    CAST(s.stats_id AS int) AS stats_id, s.name AS statistics_name,
    CAST(p.rows AS bigint) AS row_count, CAST(p.rows_sampled AS bigint) AS rows_sampled,
    CAST(p.steps AS int) AS steps, CAST(p.modification_counter AS bigint) AS changes,
    CAST(DATEDIFF(second, '20000101', p.last_updated) - ROUND(DATEDIFF(second, GETUTCDATE(),
    GETDATE()) / 900.0, 0) * 900 AS bigint) AS gathered_s
FROM sys.stats AS s
JOIN sys.tables AS o ON o.object_id = s.object_id
CROSS APPLY sys.dm_db_stats_properties(s.object_id, s.stats_id) AS p
WHERE o.is_ms_shipped = 0
ORDER BY s.object_id, s.stats_id

-- sys.stats_columns
SELECT /* steelbench_queries */ CAST(x.object_id AS int) AS object_id,
    CAST(x.stats_id AS int) AS stats_id, n.name AS column_name
FROM sys.stats_columns AS x
JOIN sys.columns AS n ON n.object_id = x.object_id AND n.column_id = x.column_id
ORDER BY x.object_id, x.stats_id, x.stats_column_id

-- sys.dm_db_stats_histogram
SELECT /* steelbench_queries */ CAST(s.object_id AS int) AS object_id,
    CAST(s.stats_id AS int) AS stats_id, CAST(h.range_high_key AS nvarchar(400)) AS value,
    CAST(h.range_rows AS float) AS range_rows, CAST(h.equal_rows AS float) AS equal_rows,
    CAST(h.distinct_range_rows AS bigint) AS range_values
FROM sys.stats AS s
JOIN sys.tables AS o ON o.object_id = s.object_id
CROSS APPLY sys.dm_db_stats_histogram(s.object_id, s.stats_id) AS h
WHERE o.is_ms_shipped = 0
ORDER BY s.object_id, s.stats_id, h.step_number

-- sys.master_files
SELECT /* steelbench_queries */ DB_NAME({f.database_id|DB_ID()}) AS database_name,
    f.physical_name AS file_name, CAST(f.type_desc AS nvarchar(60)) AS type_desc,
    CAST(f.size AS bigint) AS pages, CAST(f.max_size AS bigint) AS pages_max,
    CAST(f.growth AS bigint) AS growth, CAST(f.is_percent_growth AS int) AS is_percent_growth,
    CAST(v.num_of_reads AS bigint) AS reads, CAST(v.num_of_bytes_read AS bigint) AS read_bytes,
    CAST(v.io_stall_read_ms AS bigint) AS read_ms, CAST(v.num_of_writes AS bigint) AS writes,
    CAST(v.num_of_bytes_written AS bigint) AS write_bytes,
    CAST(v.io_stall_write_ms AS bigint) AS write_ms
FROM {sys.master_files|sys.database_files} AS f
LEFT JOIN sys.dm_io_virtual_file_stats({NULL|DB_ID()}, NULL) AS v
    ON v.database_id = {f.database_id|DB_ID()} AND v.file_id = f.file_id
ORDER BY 1, f.file_id

-- sys.database_query_store_options
SELECT /* steelbench_queries */ CAST(o.actual_state AS int) AS state,
    CAST(o.readonly_reason AS int) AS reason,
    (SELECT CAST(MAX(runtime_stats_interval_id) AS bigint) FROM
    sys.query_store_runtime_stats_interval) AS newest,
    (SELECT CONVERT(nvarchar(16), MIN(start_time), 120) FROM
    sys.query_store_runtime_stats_interval) AS since
FROM sys.database_query_store_options AS o

-- sys.query_store_runtime_stats
SELECT TOP (20000) /* steelbench_queries */ CONVERT(nvarchar(34), q.query_hash, 1) AS digest,
    DB_NAME() AS database_name, CAST(p.plan_id AS bigint) AS plan_id,
    SUM(CAST(s.count_executions AS bigint)) AS calls,
    SUM(CASE s.execution_type WHEN 0 THEN 0 ELSE CAST(s.count_executions AS bigint) END) AS
    errors, SUM(CAST(ROUND(s.avg_duration * s.count_executions, 0) AS bigint)) AS elapsed_us,
    SUM(CAST(ROUND(s.avg_cpu_time * s.count_executions, 0) AS bigint)) AS worker_us,
    MIN(CAST(s.min_duration AS bigint)) AS min_us,
    MAX(CAST(s.max_duration AS bigint)) AS max_us,
    SUM((s.stdev_duration * s.stdev_duration + s.avg_duration * s.avg_duration) *
    s.count_executions) AS squares_us,
    SUM(CAST(ROUND(s.avg_rowcount * s.count_executions, 0) AS bigint)) AS total_rows,
    SUM(CAST(ROUND(s.avg_logical_io_reads * s.count_executions, 0) AS bigint)) AS logical_reads,
    SUM(CAST(ROUND(s.avg_physical_io_reads * s.count_executions, 0) AS bigint)) AS
    physical_reads,
    {SUM(CAST(ROUND(s.avg_tempdb_space_used * s.count_executions, 0) AS bigint)) AS
    tempdb_pages,
    |}MAX(CAST(SUBSTRING(t.query_sql_text, 1, 4000) AS nvarchar(4000))) AS statement_text
FROM sys.query_store_runtime_stats AS s
JOIN sys.query_store_plan AS p ON p.plan_id = s.plan_id
JOIN sys.query_store_query AS q ON q.query_id = p.query_id
JOIN sys.query_store_query_text AS t ON t.query_text_id = q.query_text_id
WHERE q.is_internal_query = 0 AND s.runtime_stats_interval_id BETWEEN

-- sys.query_store_runtime_stats_interval
SELECT TOP (1) /* steelbench_queries */ CAST(i.runtime_stats_interval_id AS bigint) AS number,
    DATEDIFF_BIG(millisecond, CAST('1970-01-01T00:00:00+00:00' AS datetimeoffset), i.start_time)
    AS from_ms,
    DATEDIFF_BIG(millisecond, CAST('1970-01-01T00:00:00+00:00' AS datetimeoffset), i.end_time)
    AS to_ms
FROM sys.query_store_runtime_stats_interval AS i
WHERE i.end_time <= SYSDATETIMEOFFSET()
    AND DATEDIFF_BIG(millisecond, CAST('1970-01-01T00:00:00+00:00' AS datetimeoffset),
    i.start_time) >=

-- sys.dm_os_wait_stats
SELECT CAST(wait_type AS nvarchar(60)) AS wait_type,
    CAST(waiting_tasks_count AS bigint) AS waits, CAST(wait_time_ms AS bigint) AS wait_ms,
    CAST(signal_wait_time_ms AS bigint) AS signal_ms
FROM sys.dm_os_wait_stats
WHERE waiting_tasks_count > 0

-- sys.dm_db_wait_stats
SELECT CAST(wait_type AS nvarchar(60)) AS wait_type,
    CAST(waiting_tasks_count AS bigint) AS waits, CAST(wait_time_ms AS bigint) AS wait_ms,
    CAST(signal_wait_time_ms AS bigint) AS signal_ms
FROM sys.dm_db_wait_stats
WHERE waiting_tasks_count > 0
