#!/bin/sh
# Starts a server and writes the rows of our tables to files and their structure to a database.
# mariadb.sh WAREHOUSES
set -eu
. "$BENCH/order-entry/tables.sh"
export engine=mariadb logic=procedures warehouses="$1"
export url="mariadb://root@localhost/?socket=$SERVER/order-entry/sock"
sh "$BENCH/mariadb.sh" start order-entry --performance-schema=OFF

sql() { sh "$BENCH/mariadb.sh" sql order-entry "$1"; }

# The procedures are created once all tables are filled.
is_ready() {
    schema=$(sql "SELECT routine_schema FROM information_schema.routines
        WHERE routine_name = 'order_entry_stock_level'")
    [ -n "$schema" ]
}

copy() {
    sql "CREATE DATABASE empty; $(for table in $tables; do
        echo "CREATE TABLE empty.$table LIKE \`$schema\`.$table;"
        echo "SELECT * FROM \`$schema\`.$table INTO OUTFILE '$SERVER/order-entry/$table.txt';"
    done)"
}

with_our_tables
# The peer of the load: secondary indexes are made after the rows.
{
    echo "DROP DATABASE IF EXISTS copied; CREATE DATABASE copied; USE copied;"
    echo "SET unique_checks = 0, foreign_key_checks = 0;"
    for table in $tables; do echo "CREATE TABLE $table LIKE empty.$table;"; done
    indexes=$(sql "SELECT table_name, index_name, group_concat(column_name ORDER BY seq_in_index)
        FROM information_schema.statistics WHERE table_schema = 'empty' AND index_name <> 'PRIMARY'
        GROUP BY table_name, index_name")
    echo "$indexes" | awk '{ print "ALTER TABLE", $1, "DROP INDEX", $2 ";" }'
    for table in $tables; do
        echo "LOAD DATA LOCAL INFILE '$SERVER/order-entry/$table.txt' INTO TABLE $table;"
    done
    echo "$indexes" | awk '{ print "ALTER TABLE", $1, "ADD INDEX", $2, "(" $3 ");" }'
    echo "ANALYZE TABLE $(echo "$tables" | sed 's/ /, /g');"
} > "$SERVER/load.sql"
