-- start of counters
SELECT /* steelbench_queries */ (extract(epoch FROM coalesce(stats_reset,
    pg_catalog.pg_postmaster_start_time())) * 1000)::int8
FROM pg_catalog.pg_stat_database
WHERE datname = pg_catalog.current_database()

-- tables
SELECT /* steelbench_queries */ c.oid, n.nspname, c.relname,
    pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname),
    CASE WHEN s.n_live_tup > 0 THEN s.n_live_tup ELSE greatest(c.reltuples, 0) END,
    pg_catalog.pg_relation_size(c.oid), s.seq_scan, s.seq_tup_read, s.n_tup_ins, s.n_tup_upd,
    s.n_tup_hot_upd, s.n_tup_del, s.n_dead_tup, s.n_mod_since_analyze,
    (extract(epoch FROM greatest(s.last_analyze, s.last_autoanalyze)) * 1000)::int8,
    CASE c.relkind WHEN 'p' THEN 'partitioned' ELSE '' END, c.relkind IN ('r', 'p')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND
    k.contype = 'p')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype =
    'e')
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_stat_all_tables s ON s.relid = c.oid
WHERE c.relkind IN ('r', 'm', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND n.nspname !~ '^pg_(toast|temp_)' AND c.relpersistence <> 't'
ORDER BY 2, 3

-- indexes
SELECT /* steelbench_queries */ x.indrelid, i.relname,
    pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(i.relname), m.amname,
    pg_catalog.pg_get_expr(x.indpred, x.indrelid), x.indisunique,
    x.indisprimary OR x.indisexclusion OR x.indisreplident OR i.relispartition OR i.relkind =
    'I' OR EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.oid AND k.contype
    IN ('p', 'u', 'x', 'f')), x.indisvalid,
    CASE WHEN i.relkind = 'i' THEN pg_catalog.pg_relation_size(i.oid) END,
    greatest(i.reltuples, 0), s.idx_scan,
    {(extract(epoch FROM s.last_idx_scan) * 1000)::int8|NULL}, s.idx_tup_read, s.idx_tup_fetch,
    o.idx_blks_hit, o.idx_blks_read, pg_catalog.pg_get_indexdef(i.oid),
    (SELECT pg_catalog.json_agg(pg_catalog.json_build_array(pg_catalog.pg_get_indexdef(i.oid, p,
    true), x.indclass[p - 1], x.indcollation[p - 1], x.indoption[p - 1], EXISTS (SELECT FROM
    pg_catalog.pg_opclass o WHERE o.oid = x.indclass[p - 1] AND o.opcname LIKE '%pattern_ops')
    OR EXISTS (SELECT FROM pg_catalog.pg_collation l WHERE l.oid = x.indcollation[p - 1] AND
    CASE l.collname WHEN 'default' THEN (SELECT d.datcollate FROM pg_catalog.pg_database d WHERE
    d.datname = pg_catalog.current_database()) ELSE l.collname END IN ('C', 'POSIX'))) ORDER BY
    p) FROM pg_catalog.generate_series(1, x.indnkeyatts) p),
    (SELECT pg_catalog.json_agg(pg_catalog.pg_get_indexdef(i.oid, p, true) ORDER BY p) FROM
    pg_catalog.generate_series(x.indnkeyatts + 1, x.indnatts) p)
FROM pg_catalog.pg_index x
JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
JOIN pg_catalog.pg_class c ON c.oid = x.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = i.relnamespace
JOIN pg_catalog.pg_am m ON m.oid = i.relam
LEFT JOIN pg_catalog.pg_stat_all_indexes s ON s.indexrelid = i.oid
LEFT JOIN pg_catalog.pg_statio_all_indexes o ON o.indexrelid = i.oid
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp_)'
    AND c.relpersistence <> 't'
ORDER BY i.oid

-- foreign keys
SELECT /* steelbench_queries */ k.conrelid, k.conname,
    pg_catalog.json_agg(pg_catalog.quote_ident(a.attname) ORDER BY
    pg_catalog.array_position(k.conkey, a.attnum)), k.confrelid::regclass::text
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey)
WHERE k.contype = 'f' AND k.conparentid = 0
GROUP BY 1, 2, k.confrelid

-- columns
SELECT /* steelbench_queries */ n.nspname, c.relname, pg_catalog.quote_ident(a.attname),
    s.avg_width, s.null_frac, s.n_distinct, pg_catalog.format_type(a.atttypid, NULL)
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN (SELECT DISTINCT ON (schemaname, tablename, attname) * FROM pg_catalog.pg_stats ORDER
    BY schemaname, tablename, attname, inherited DESC) s ON s.schemaname = n.nspname
    AND s.tablename = c.relname AND s.attname = a.attname
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'm', 'p')
    AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND n.nspname !~ '^pg_(toast|temp_)' AND c.relpersistence <> 't'
ORDER BY c.oid, a.attnum
