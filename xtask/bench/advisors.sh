#!/bin/sh
# Output of `queries` and of other advisors, called as their documentation says, for one server with
# planted faults: for a person to judge. The faults are those of the tests ($FAULTS).
set -eu
has() { echo "$available" | grep -qx "$1"; }
trap 'sh "$BENCH/postgres.sh" stop' EXIT
sh "$BENCH/postgres.sh" start
available=$(psql -qAtXc "SELECT name FROM pg_available_extensions")
qualstats=""
! has pg_qualstats || qualstats=",pg_qualstats -c pg_qualstats.sample_rate=1"
sh "$BENCH/postgres.sh" stop
sh "$BENCH/postgres.sh" start -c "shared_preload_libraries=pg_stat_statements$qualstats" \
    -c autovacuum=off -c log_min_duration_statement=0 -c log_temp_files=0 \
    -c "log_line_prefix=%m\\ [%p]\\ "
psql -qXc "CREATE EXTENSION pg_stat_statements" -f "$FAULTS/tables.sql"
for extension in pg_qualstats hypopg; do
    ! has $extension || psql -qXc "CREATE EXTENSION $extension"
done
psql -qX -o /dev/null -c "VACUUM ANALYZE" -c "SELECT pg_stat_statements_reset()" -f "$FAULTS/load.sql"

echo "-- ours: queries"
steelbench queries "host=$SERVER user=$PGUSER dbname=$PGDATABASE"
# ask NAME SQL; a name begins with the extension that it needs.
ask() {
    echo "-- $1"
    case $1 in
    pg_qualstats* | hypopg*)
        if ! has "${1%%:*}"; then
            echo "SKIPPED: ${1%%:*} is not installed"
            return
        fi
        ;;
    esac
    psql -qAtXc "$2"
}
ask "pg_qualstats: index advisor" "SELECT v FROM json_array_elements(
    pg_qualstats_index_advisor(min_filter => 1000, min_selectivity => 30)->'indexes') v"
ask "pg_qualstats: conditions with the largest errors of estimates" "SELECT lrelid::regclass,
    lattnum, round(max(mean_err_estimate_ratio)::numeric, 1) FROM pg_qualstats JOIN pg_database d
    ON d.oid = dbid AND datname = current_database() WHERE lrelid IS NOT NULL GROUP BY 1, 2
    ORDER BY 3 DESC LIMIT 5"
ask "hypopg: the cost with an index proposed by hand" "SELECT indexname
    FROM hypopg_create_index('CREATE INDEX ON orders (customer_id)');
    EXPLAIN SELECT * FROM orders WHERE customer_id = 1"
ask "SQL: indexes with idx_scan = 0 that are not unique" "SELECT indexrelid::regclass
    FROM pg_stat_user_indexes JOIN pg_index USING (indexrelid) WHERE idx_scan = 0 AND NOT indisunique"
ask "SQL: indexes whose columns begin another" "SELECT a.indexrelid::regclass, b.indexrelid::regclass
    FROM pg_index a JOIN pg_index b ON a.indrelid = b.indrelid AND a.indexrelid <> b.indexrelid
    AND (b.indkey::text || ' ') LIKE (a.indkey::text || ' %')
    WHERE a.indrelid IN ('orders'::regclass, 'customers'::regclass) AND NOT a.indisunique"
ask "SQL: tables that were read whole most often, statements with temporary files, and with most calls" \
    "SELECT relname, seq_scan FROM pg_stat_user_tables ORDER BY seq_scan DESC;
    SELECT left(query, 60), temp_blks_written FROM pg_stat_statements WHERE temp_blks_written > 0;
    SELECT left(query, 60), calls FROM pg_stat_statements ORDER BY calls DESC LIMIT 3"
echo "-- pgbadger on the log of all statements"
pgbadger -q -f stderr -p '%m [%p] ' -o pgbadger.txt "$SERVER/log" && cat pgbadger.txt ||
    echo "SKIPPED: pgbadger does not run"
