#!/bin/sh
# sysbench's point-selects on a server of mariadb.sh. sysbench.sh NAME prepare | run
set -eu
[ "$2" = run ] || sh "$BENCH/mariadb.sh" sql "$1" "CREATE DATABASE sbtest"
sysbench oltp_point_select --db-driver=mysql --mysql-user=root --rand-type=uniform \
    --mysql-socket="$SERVER/$1/sock" --table-size=100000 --threads="${connections:-1}" --time=3 \
    "$2" | sed 's/^ *transactions: *\([0-9]*\) *(\([0-9.]*\) .*/done \1\nthroughput \2/'
