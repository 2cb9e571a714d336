#!/bin/sh
# Starts a server and gives the peer copies of our tables and procedures.
# postgres.sh WAREHOUSES
set -eu
. "$BENCH/order-entry/tables.sh"
export engine=postgres logic=procedures warehouses="$1"
export url="host=$SERVER user=$PGUSER dbname=$PGDATABASE"
sh "$BENCH/postgres.sh" start

# The procedures are created once all tables are filled.
is_ready() {
    psql -qAtXc "SELECT proname FROM pg_proc" | grep -q order_entry_stock_level
}

copy() {
    {
        # One snapshot of all tables, which our transactions change.
        echo "BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE SCHEMA peer;"
        for table in $tables; do
            echo "CREATE TABLE peer.$table (LIKE steelbench.$table INCLUDING ALL);"
            echo "INSERT INTO peer.$table SELECT * FROM steelbench.$table;"
        done
        echo "COMMIT; SET search_path = peer;"
        cat "$ROOT/crates/studies/order_entry/src/procedures/postgres.sql"
        echo "; ALTER ROLE CURRENT_USER SET search_path = peer; VACUUM ANALYZE;"
        for table in $tables; do
            printf "%s\n" "\\copy peer.$table TO '$SERVER/$table.csv' (FORMAT csv)"
        done
    } | psql -qX -v ON_ERROR_STOP=1 > /dev/null
}

with_our_tables
# The peer of the load: the tables, their rows, keys and indexes.
{
    for table in $tables; do
        echo "CREATE TABLE copied.$table (LIKE peer.$table);"
        printf "%s\n" "\\copy copied.$table FROM '$SERVER/$table.csv' (FORMAT csv)"
    done
    psql -qAtXc "SELECT replace(pg_get_indexdef(indexrelid), 'peer.', 'copied.') || ';'
        FROM pg_index JOIN pg_class t ON t.oid = indrelid WHERE relnamespace = 'peer'::regnamespace"
    echo "VACUUM ANALYZE $(echo "$tables" | sed 's/[^ ]*/copied.&/g; s/ /, /g');"
} > "$SERVER/load.sql"
