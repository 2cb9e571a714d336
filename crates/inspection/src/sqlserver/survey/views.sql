-- sys.configurations
SELECT CAST(name AS nvarchar(35)) AS name,
    CAST(CAST(value AS bigint) AS nvarchar(20)) AS configured,
    CAST(CAST(value_in_use AS bigint) AS nvarchar(20)) AS in_use
FROM sys.configurations
ORDER BY name

-- sys.dm_os_sys_info
SELECT cpu_count, scheduler_count, CAST(physical_memory_kb AS bigint) AS physical_memory_kb,
    CAST(committed_target_kb AS bigint) AS committed_target_kb, max_workers_count,
    {numa_node_count, socket_count, cores_per_socket,
    CAST(softnuma_configuration_desc AS nvarchar(60)) AS softnuma_configuration_desc,
    CAST(sql_memory_model_desc AS nvarchar(60)) AS sql_memory_model_desc,
    |}CAST(virtual_machine_type_desc AS nvarchar(60)) AS virtual_machine_type_desc
FROM sys.dm_os_sys_info

-- sys.databases
{SELECT CAST(d.name AS nvarchar(128)) AS name, SUM(CAST(f.size AS bigint)) * 8192 AS bytes
FROM sys.databases AS d
LEFT JOIN sys.master_files AS f ON f.database_id = d.database_id
GROUP BY d.name
ORDER BY bytes DESC, name
|SELECT CAST(name AS nvarchar(128)) AS name
FROM sys.databases
ORDER BY name}
