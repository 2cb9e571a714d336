-- statistics
SELECT DISTINCT ON (schemaname, tablename, attname) /* steelbench_queries */ schemaname,
    tablename, attname, null_frac, n_distinct,
    coalesce(pg_catalog.array_length(most_common_freqs, 1), 0) +
    coalesce(pg_catalog.array_length(histogram_bounds::text::text[], 1), 0),
    {pg_catalog.to_json(most_common_vals::text::text[]), pg_catalog.to_json(most_common_freqs),
    pg_catalog.to_json(histogram_bounds::text::text[])|NULL, NULL, NULL}
FROM pg_catalog.pg_stats
WHERE schemaname NOT IN ('pg_catalog', 'information_schema')
ORDER BY schemaname, tablename, attname, inherited DESC

-- tablespaces
SELECT /* steelbench_queries */ spcname, pg_catalog.pg_tablespace_location(oid),
    CASE WHEN pg_catalog.pg_has_role('pg_read_all_stats', 'MEMBER') OR
    pg_catalog.has_tablespace_privilege(oid, 'CREATE') THEN pg_catalog.pg_tablespace_size(oid)
    END
FROM pg_catalog.pg_tablespace
ORDER BY 1

-- files of databases
SELECT /* steelbench_queries */ d.datname, t.spcname,
    CASE WHEN pg_catalog.pg_has_role('pg_read_all_stats', 'MEMBER') OR
    pg_catalog.has_database_privilege(d.oid, 'CONNECT') THEN pg_catalog.pg_database_size(d.oid)
    END, s.blks_read, s.blks_read * pg_catalog.current_setting('block_size')::int8,
    CASE pg_catalog.current_setting('track_io_timing') WHEN 'on' THEN
    pg_catalog.round(s.blk_read_time * 1000000)::int8 END, s.temp_files, s.temp_bytes,
    (extract(epoch FROM s.stats_reset) * 1000)::int8
FROM pg_catalog.pg_database d
JOIN pg_catalog.pg_tablespace t ON t.oid = d.dattablespace
JOIN pg_catalog.pg_stat_database s ON s.datid = d.oid
WHERE d.datallowconn
ORDER BY 1

-- WAL files
SELECT /* steelbench_queries */ pg_catalog.count(*), pg_catalog.sum(size)::int8
FROM pg_catalog.pg_ls_waldir()

-- I/O by kind
SELECT /* steelbench_queries */ object || ', ' || context, pg_catalog.sum(reads)::int8,
    pg_catalog.sum({read_bytes|reads * op_bytes})::int8,
    CASE WHEN pg_catalog.current_setting(CASE object WHEN 'wal' THEN 'track_wal_io_timing' ELSE
    'track_io_timing' END) = 'on' THEN pg_catalog.round(pg_catalog.sum(read_time) *
    1000000)::int8 END, pg_catalog.sum(writes)::int8,
    pg_catalog.sum({write_bytes|writes * op_bytes})::int8,
    CASE WHEN pg_catalog.current_setting(CASE object WHEN 'wal' THEN 'track_wal_io_timing' ELSE
    'track_io_timing' END) = 'on' THEN pg_catalog.round(pg_catalog.sum(write_time) *
    1000000)::int8 END, (extract(epoch FROM pg_catalog.max(stats_reset)) * 1000)::int8
FROM pg_catalog.pg_stat_io
GROUP BY object, context
ORDER BY 1
