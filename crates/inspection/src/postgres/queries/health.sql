-- ages of transactions
SELECT /* steelbench_queries */ d.datname, age(d.datfrozenxid),
    pg_catalog.current_setting('autovacuum_freeze_max_age')::float8
FROM pg_catalog.pg_database d
WHERE d.datallowconn
ORDER BY 2 DESC

-- open transactions
SELECT /* steelbench_queries */ pid, datname, usename, application_name, state, extract(epoch FROM now() - xact_start),
    extract(epoch FROM now() - state_change),
    backend_xmin IS NOT NULL OR backend_xid IS NOT NULL
FROM pg_catalog.pg_stat_activity
WHERE xact_start IS NOT NULL AND backend_type = 'client backend'
    AND pid <> pg_catalog.pg_backend_pid()
    AND (now() - xact_start > interval '300 s'
        OR (state LIKE 'idle in transaction%' AND now() - state_change > interval '10 s'))
ORDER BY 6 DESC

-- prepared transactions
SELECT /* steelbench_queries */ gid, database, owner, extract(epoch FROM now() - prepared)
FROM pg_catalog.pg_prepared_xacts
WHERE now() - prepared > interval '10 s'
ORDER BY 4 DESC

-- replication slots
SELECT /* steelbench_queries */ slot_name, coalesce(database, ''), slot_type,
    pg_catalog.pg_wal_lsn_diff(CASE WHEN pg_catalog.pg_is_in_recovery()
        THEN pg_catalog.pg_last_wal_receive_lsn() ELSE pg_catalog.pg_current_wal_lsn() END,
        restart_lsn),
    wal_status
FROM pg_catalog.pg_replication_slots
WHERE NOT active AND restart_lsn IS NOT NULL AND NOT temporary
ORDER BY 4 DESC NULLS LAST

-- replicas
SELECT /* steelbench_queries */ coalesce(application_name, ''), coalesce(client_addr::text, 'local'), state,
    pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), replay_lsn),
    extract(epoch FROM replay_lag)
FROM pg_catalog.pg_stat_replication
WHERE NOT pg_catalog.pg_is_in_recovery()

-- replay of this replica
SELECT /* steelbench_queries */ pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_last_wal_receive_lsn(),
        pg_catalog.pg_last_wal_replay_lsn()),
    extract(epoch FROM pg_catalog.clock_timestamp() - pg_catalog.pg_last_xact_replay_timestamp())
WHERE pg_catalog.pg_is_in_recovery()
    AND pg_catalog.pg_last_wal_receive_lsn() IS DISTINCT FROM pg_catalog.pg_last_wal_replay_lsn()

-- settings
SELECT /* steelbench_queries */ name
FROM pg_catalog.pg_settings
WHERE name IN ('autovacuum', 'track_counts') AND setting = 'off'
ORDER BY name

-- sequences
SELECT /* steelbench_queries */ pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),
    s.last_value::float8, s.max_value::float8, s.increment_by > 0 AND NOT s.cycle,
    (SELECT pg_catalog.quote_ident(tn.nspname) || '.' || pg_catalog.quote_ident(t.relname)
        FROM pg_catalog.pg_class t
        JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace
        WHERE t.oid = d.refobjid),
    pg_catalog.quote_ident(a.attname),
    CASE a.atttypid WHEN 21 THEN 32767 WHEN 23 THEN 2147483647 ELSE 9.2e18 END::float8
FROM pg_catalog.pg_sequences s
JOIN pg_catalog.pg_namespace n ON n.nspname = s.schemaname
JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = s.sequencename
LEFT JOIN pg_catalog.pg_depend d ON d.objid = c.oid
    AND d.classid = 'pg_catalog.pg_class'::regclass AND d.refobjsubid > 0
    AND d.deptype IN ('a', 'i')
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
WHERE s.last_value IS NOT NULL

-- dead rows
SELECT /* steelbench_queries */ pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),
    extract(epoch FROM now() - greatest(s.last_vacuum, s.last_autovacuum)),
    pg_catalog.array_to_string(c.reloptions, ',')
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_stat_all_tables s ON s.relid = c.oid
WHERE c.relkind IN ('r', 'm')
