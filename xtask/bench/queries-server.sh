#!/bin/sh
# A server that knows 5,000 statements, and has 2,100 indexes.
set -eu
sh "$BENCH/postgres.sh" start -c shared_preload_libraries=pg_stat_statements \
    -c pg_stat_statements.max=10000
# By constants and names of columns the server does not tell statements apart.
awk 'BEGIN {
    print "CREATE EXTENSION pg_stat_statements;"
    for (number = 0; number < 5000; number++) {
        table = int(number / 50); columns = number % 50
        if (columns == 0) {
            list = ""
            for (at = 0; at < 20; at++) list = list ", c" at " int"
            print "CREATE TABLE many_" table " (a int PRIMARY KEY" list ");"
            for (at = 0; at < 20; at++) print "CREATE INDEX ON many_" table " (c" at ");"
            list = "a"
        }
        print "SELECT " list " FROM many_" table " WHERE a = 1;"
        list = list ", a"
    }
}' | psql -qAtX -v ON_ERROR_STOP=1 -o /dev/null
