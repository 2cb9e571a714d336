-- settings
SELECT /* steelbench_queries */ name, setting, boot_val, unit, vartype, source,
    pg_catalog.regexp_replace(sourcefile, '.*/', ''), pending_restart, context, category
FROM pg_catalog.pg_settings
WHERE source NOT IN ('client', 'session')
ORDER BY name

-- databases
SELECT datname,
    CASE WHEN pg_catalog.has_database_privilege(oid, 'CONNECT') OR
    pg_catalog.pg_has_role('pg_read_all_stats', 'MEMBER') THEN pg_catalog.pg_database_size(oid)
    END AS bytes
FROM pg_catalog.pg_database
WHERE NOT datistemplate
ORDER BY bytes DESC NULLS LAST, datname

-- extensions
SELECT extname, extversion
FROM pg_catalog.pg_extension
ORDER BY extname

-- replication state
SELECT pg_catalog.pg_is_in_recovery(), pg_catalog.pg_has_role('pg_read_all_settings', 'MEMBER')
