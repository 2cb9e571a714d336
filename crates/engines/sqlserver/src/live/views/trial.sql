-- sys.extended_properties
SELECT CAST(name AS nvarchar(128)) AS name, CAST(value AS nvarchar(4000)) AS value
FROM [steelbench].sys.extended_properties
WHERE class = 0

-- sys.database_files
SELECT CAST(type AS int) AS kind, CAST(name AS nvarchar(128)) AS name,
    CAST(physical_name AS nvarchar(260)) AS path, CAST(size AS bigint) AS pages,
    CAST(growth AS bigint) AS growth_pages, CAST(is_percent_growth AS int) AS is_percent
FROM sys.database_files

-- sys.master_files
SELECT CAST(size AS bigint) AS pages
FROM sys.master_files
WHERE database_id = 3 AND file_id = 1

-- the server's properties
SELECT CAST(SERVERPROPERTY('EngineEdition') AS int) AS engine_edition

-- sys.dm_server_services
SELECT CAST(instant_file_initialization_enabled AS nvarchar(1)) AS instant
FROM sys.dm_server_services
WHERE servicename LIKE N'SQL Server (%'

-- sys.dm_db_partition_stats
SELECT CAST(t.name AS nvarchar(128)) AS name, p.index_id AS index_id,
    CAST(p.in_row_data_page_count AS bigint) AS data_pages,
    CAST(p.used_page_count AS bigint) AS used_pages
FROM sys.dm_db_partition_stats AS p
JOIN sys.tables AS t ON t.object_id = p.object_id
WHERE t.is_ms_shipped = 0

-- sys.dm_os_buffer_descriptors
SELECT CAST(COUNT_BIG(*) AS bigint) * 8192 AS bytes
FROM sys.dm_os_buffer_descriptors
WHERE database_id = DB_ID()

-- sys.dm_exec_sessions
SELECT session_id AS session_id, CAST(DB_NAME(database_id) AS nvarchar(128)) AS database_name,
    CAST(login_name AS nvarchar(128)) AS login_name,
    CAST(program_name AS nvarchar(128)) AS program_name
FROM sys.dm_exec_sessions
WHERE is_user_process = 1 AND database_id > 4 AND database_id <> DB_ID()

-- sys.partitions
SELECT CAST(t.name AS nvarchar(128)) AS name,
    CAST(p.data_compression_desc AS nvarchar(60)) AS value
FROM sys.partitions AS p
JOIN sys.tables AS t ON t.object_id = p.object_id
WHERE p.index_id < 2

-- sys.indexes
SELECT CAST(t.name AS nvarchar(128)) AS name,
    CAST(CAST(i.optimize_for_sequential_key AS int) AS nvarchar(1)) AS value
FROM sys.indexes AS i
JOIN sys.tables AS t ON t.object_id = i.object_id
WHERE i.index_id = 1

-- sys.dm_db_column_store_row_group_physical_stats
SELECT CAST(t.name AS nvarchar(128)) AS name, CAST(g.state_desc AS nvarchar(60)) AS state,
    CAST(SUM(g.total_rows) AS bigint) AS rows_in_state
FROM sys.dm_db_column_store_row_group_physical_stats AS g
JOIN sys.tables AS t ON t.object_id = g.object_id
WHERE g.state_desc IN (N'OPEN', N'CLOSED')
GROUP BY t.name, g.state_desc

-- sys.database_recovery_status
SELECT CAST(CASE WHEN last_log_backup_lsn IS NULL THEN 0 ELSE 1 END AS int) AS has_begun
FROM sys.database_recovery_status
WHERE database_id = DB_ID()

-- sys.dm_io_virtual_file_stats
SELECT CAST(f.type_desc AS nvarchar(60)) AS kind, CAST(SUM(s.num_of_reads) AS bigint) AS reads,
    CAST(SUM(s.num_of_bytes_read) AS bigint) AS read_bytes,
    CAST(SUM(s.io_stall_read_ms) AS bigint) AS read_ms,
    CAST(SUM(s.num_of_writes) AS bigint) AS writes,
    CAST(SUM(s.num_of_bytes_written) AS bigint) AS written_bytes,
    CAST(SUM(s.io_stall_write_ms) AS bigint) AS write_ms
FROM sys.dm_io_virtual_file_stats(DB_ID(N'steelbench'), NULL) AS s
JOIN sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id
GROUP BY f.type_desc
