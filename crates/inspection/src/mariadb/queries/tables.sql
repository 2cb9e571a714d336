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

-- column statistics of MariaDB
SELECT db_name AS steelbench_queries, table_name, column_name, nulls_ratio,
    CASE hist_type WHEN 'JSON_HB' THEN json_length(CONVERT(histogram USING utf8mb4),
    '$.histogram_hb') WHEN 'DOUBLE_PREC_HB' THEN hist_size DIV 2 ELSE hist_size END, NULL, NULL,
    {IF(hist_type = 'JSON_HB', CONVERT(histogram USING utf8mb4), NULL)|NULL}
FROM mysql.column_stats
WHERE db_name IN :schemas
ORDER BY 1, 2, 3

-- column statistics of MySQL
SELECT schema_name AS steelbench_queries, table_name, column_name, histogram->>'$."null-values"',
    json_length(histogram, '$.buckets'), histogram->>'$."sampling-rate"',
    timestampdiff(MICROSECOND, '1970-01-01', histogram->>'$."last-updated"') DIV 1000,
    {histogram|NULL}
FROM information_schema.column_statistics
WHERE schema_name IN :schemas
ORDER BY 1, 2, 3
