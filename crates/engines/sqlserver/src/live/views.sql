-- the server's properties
SELECT CAST(@@VERSION AS nvarchar(300)) AS version,
    CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)) AS product_version,
    CAST(SERVERPROPERTY('Edition') AS nvarchar(128)) AS edition,
    CAST(SERVERPROPERTY('EngineEdition') AS int) AS engine_edition, @@SPID AS session_id

-- sys.dm_os_sys_info
SELECT CONVERT(nvarchar(33), sqlserver_start_time, 126) AS started
FROM sys.dm_os_sys_info

-- VIEW SERVER STATE
SELECT CAST(COALESCE(HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER PERFORMANCE STATE'),
    HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')) AS int) AS may

-- VIEW DATABASE STATE
SELECT CAST(HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'VIEW DATABASE STATE') AS int) AS may

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

-- sys.dm_os_latch_stats
SELECT CAST(latch_class AS nvarchar(60)) AS name, CAST(wait_time_ms AS bigint) AS wait_ms,
    CAST(waiting_requests_count AS bigint) AS waits
FROM sys.dm_os_latch_stats
WHERE waiting_requests_count > 0

-- sys.dm_io_virtual_file_stats
-- The other form: servers without sys.master_files, as Azure SQL Database.
{SELECT COALESCE(DB_NAME(s.database_id), N'database ' + CAST(s.database_id AS nvarchar(11))) +
    N', ' + CAST(COALESCE(f.type_desc, N'FILE') AS nvarchar(60)) + N' ' + CAST(s.file_id AS
    nvarchar(11)) + COALESCE(N' ' + f.physical_name, N'') AS name,
    CAST(s.io_stall_read_ms AS bigint) AS read_stall_ms,
    CAST(s.num_of_reads AS bigint) AS reads, CAST(s.num_of_bytes_read AS bigint) AS read_bytes,
    CAST(s.io_stall_write_ms AS bigint) AS write_stall_ms,
    CAST(s.num_of_writes AS bigint) AS writes,
    CAST(s.num_of_bytes_written AS bigint) AS written_bytes
FROM sys.dm_io_virtual_file_stats(NULL, NULL) AS s
LEFT JOIN sys.master_files AS f ON f.database_id = s.database_id AND f.file_id = s.file_id
|SELECT COALESCE(DB_NAME(database_id), N'database ' + CAST(database_id AS nvarchar(11))) +
    N', FILE ' + CAST(file_id AS nvarchar(11)) AS name,
    CAST(io_stall_read_ms AS bigint) AS read_stall_ms, CAST(num_of_reads AS bigint) AS reads,
    CAST(num_of_bytes_read AS bigint) AS read_bytes,
    CAST(io_stall_write_ms AS bigint) AS write_stall_ms,
    CAST(num_of_writes AS bigint) AS writes,
    CAST(num_of_bytes_written AS bigint) AS written_bytes
FROM sys.dm_io_virtual_file_stats(NULL, NULL)}

-- sys.dm_os_schedulers
-- The other form: before SQL Server 2016.
SELECT N'scheduler ' + CAST(scheduler_id AS nvarchar(11)) + N' of node ' + CAST(parent_node_id
    AS nvarchar(11)) AS name, {CAST(total_cpu_usage_ms AS bigint) AS cpu_ms,
    CAST(total_scheduler_delay_ms AS bigint) AS delay_ms,
    |}CAST(context_switches_count AS bigint) AS switches, CAST(yield_count AS bigint) AS yields,
    CAST(runnable_tasks_count AS bigint) AS now_runnable,
    CAST(work_queue_count AS bigint) AS now_queued,
    CAST(pending_disk_io_count AS bigint) AS now_io
FROM sys.dm_os_schedulers
WHERE status = 'VISIBLE ONLINE'

-- sys.dm_os_spinlock_stats
SELECT CAST(name AS nvarchar(256)) AS name, CAST(spins AS bigint) AS spins,
    CAST(collisions AS bigint) AS collisions, CAST(backoffs AS bigint) AS backoffs
FROM sys.dm_os_spinlock_stats
WHERE collisions > 0

-- sys.dm_exec_requests
SELECT r.session_id AS session_id, CAST(r.status AS nvarchar(30)) AS status,
    CAST(r.wait_type AS nvarchar(60)) AS wait_type,
    CAST(r.wait_resource AS nvarchar(256)) AS wait_resource,
    CONVERT(bigint, r.query_hash) AS query_id,
    CAST(DB_NAME(r.database_id) AS nvarchar(128)) AS database_name,
    CAST(s.login_name AS nvarchar(128)) AS login_name,
    CAST(s.program_name AS nvarchar(128)) AS program_name
FROM sys.dm_exec_requests AS r
JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
WHERE s.is_user_process = 1 AND r.session_id <> @@SPID
    AND COALESCE(s.program_name, N'') <> N'steelbench observer'

-- sys.dm_os_waiting_tasks
SELECT TOP (1000) t.session_id AS session_id, t.exec_context_id AS exec_context_id,
    CAST(t.wait_duration_ms AS bigint) AS wait_ms,
    CAST(t.wait_type AS nvarchar(60)) AS wait_type,
    CAST(t.resource_description AS nvarchar(3072)) AS resource,
    t.blocking_session_id AS blocking_session_id
FROM sys.dm_os_waiting_tasks AS t
JOIN sys.dm_exec_sessions AS s ON s.session_id = t.session_id
WHERE s.is_user_process = 1 AND t.session_id <> @@SPID
    AND COALESCE(s.program_name, N'') <> N'steelbench observer'
ORDER BY t.wait_duration_ms DESC

-- sys.dm_exec_sessions
-- The other form: before SQL Server 2012, and others than SQL Server that lack these views.
{SELECT s.session_id AS session_id, CAST(s.status AS nvarchar(30)) AS status,
    CAST(s.login_name AS nvarchar(128)) AS login_name,
    CAST(s.program_name AS nvarchar(128)) AS program_name,
    CAST(DB_NAME(s.database_id) AS nvarchar(128)) AS database_name,
    s.open_transaction_count AS open_transactions,
    CAST(DATEDIFF(second, s.last_request_end_time, SYSDATETIME()) AS bigint) AS idle_s,
    CAST(r.total_elapsed_time AS bigint) AS statement_ms,
    CAST(DATEDIFF(second, t.began, SYSDATETIME()) AS bigint) AS transaction_s,
    CAST(SUBSTRING(q.text, 1, 4000) AS nvarchar(4000)) AS statement
FROM sys.dm_exec_sessions AS s
LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id
LEFT JOIN sys.dm_exec_connections AS c ON c.session_id = s.session_id
    AND c.parent_connection_id IS NULL
LEFT JOIN (SELECT st.session_id AS session_id, MIN(at.transaction_begin_time) AS began FROM
    sys.dm_tran_session_transactions AS st JOIN sys.dm_tran_active_transactions AS at ON
    at.transaction_id = st.transaction_id GROUP BY st.session_id) AS t
    ON t.session_id = s.session_id
OUTER APPLY sys.dm_exec_sql_text(COALESCE(r.sql_handle, c.most_recent_sql_handle)) AS q
WHERE s.is_user_process = 1 AND s.session_id <> @@SPID
|SELECT s.session_id AS session_id, CAST(s.status AS nvarchar(30)) AS status,
    CAST(s.login_name AS nvarchar(128)) AS login_name,
    CAST(s.program_name AS nvarchar(128)) AS program_name
FROM sys.dm_exec_sessions AS s
WHERE s.is_user_process = 1 AND s.session_id <> @@SPID}

-- sys.configurations
SELECT CAST(name AS nvarchar(35)) AS name,
    CAST(CAST(value AS bigint) AS nvarchar(20)) AS configured,
    CAST(CAST(value_in_use AS bigint) AS nvarchar(20)) AS in_use,
    CAST(is_dynamic AS int) AS is_dynamic
FROM sys.configurations
ORDER BY name
