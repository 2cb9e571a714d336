-- schemas
SELECT schema_name AS steelbench_queries
FROM information_schema.schemata
WHERE schema_name NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')
ORDER BY 1

-- tables
SELECT table_schema AS steelbench_queries, table_name, table_rows, data_length, engine
FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema IN :schemas
ORDER BY 1, 2

-- indexes
SELECT table_schema AS steelbench_queries, table_name, index_name, non_unique, column_name,
    collation, sub_part, index_type
FROM information_schema.statistics
WHERE table_schema IN :schemas
ORDER BY 1, 2, 3, seq_in_index

-- columns
SELECT table_schema AS steelbench_queries, table_name, column_name, data_type
FROM information_schema.columns
WHERE table_schema IN :schemas
ORDER BY 1, 2, ordinal_position

-- foreign keys
SELECT table_schema AS steelbench_queries, table_name, constraint_name, column_name,
    referenced_table_schema, referenced_table_name, referenced_column_name
FROM information_schema.key_column_usage
WHERE referenced_table_name IS NOT NULL AND table_schema IN :schemas
ORDER BY 1, 2, 3, ordinal_position

-- sizes of indexes
SELECT database_name AS steelbench_queries, table_name, index_name, stat_value
FROM mysql.innodb_index_stats
WHERE stat_name = 'size' AND database_name IN :schemas

-- use of indexes
SELECT object_schema AS steelbench_queries, object_name, index_name, count_fetch, count_insert,
    count_update, count_delete
FROM performance_schema.table_io_waits_summary_by_index_usage
WHERE object_schema IN :schemas

-- statistics of indexes
SELECT s.database_name AS steelbench_queries, s.table_name, s.index_name, s.stat_description,
    s.stat_value, s.sample_size, t.n_rows, round(unix_timestamp(s.last_update) * 1000)
FROM mysql.innodb_index_stats s
JOIN mysql.innodb_table_stats t ON t.database_name = s.database_name
    AND t.table_name = s.table_name
WHERE s.stat_name LIKE 'n\_diff\_pfx%' AND s.database_name IN :schemas
ORDER BY 1, 2, 3, s.stat_name
