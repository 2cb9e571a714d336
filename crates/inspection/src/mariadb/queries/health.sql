-- keys that count up
SELECT t.table_schema AS steelbench_queries, t.table_name, t.auto_increment, c.column_name,
    c.column_type
FROM information_schema.tables t
JOIN information_schema.columns c ON c.table_schema = t.table_schema
    AND c.table_name = t.table_name AND c.extra LIKE '%auto_increment%'
WHERE t.auto_increment IS NOT NULL

-- open transactions
SELECT t.trx_mysql_thread_id AS steelbench_queries, p.user, coalesce(p.db, ''), p.command, p.time,
    timestampdiff(SECOND, t.trx_started, now()), t.trx_rows_modified
FROM information_schema.innodb_trx t
JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
WHERE p.id <> connection_id() AND (timestampdiff(SECOND, t.trx_started, now()) > 300
    OR (p.command = 'Sleep' AND p.time > 10))
ORDER BY 6 DESC

-- old versions of rows
SHOW GLOBAL STATUS /* steelbench_queries */ LIKE 'Innodb_history_list_length'

-- state of replication
{SHOW ALL SLAVES STATUS|SHOW REPLICA STATUS}

-- free space of tables
SELECT table_schema AS steelbench_queries, table_name, data_free, data_length + index_length
FROM information_schema.tables
WHERE engine = 'InnoDB' AND data_free > 104857600
