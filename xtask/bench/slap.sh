#!/bin/sh
# The same statements by mariadb-slap.
set -eu
seq 0 999 | awk '{ print "SELECT c FROM sbtest1 WHERE id = " $1 * 97 % 100000 + 1 ";" }' > slap.sql
statements=100000
# shellcheck disable=SC2154 # a parameter of the experiment
mysqlslap --no-defaults --user=root --create-schema=sbtest --no-drop "--delimiter=;" \
    --socket="$SERVER/cpu/sock" --query=slap.sql --concurrency="$connections" \
    --number-of-queries=$statements | awk -v statements=$statements '
    /Average number of seconds/ { print "done", statements; print "throughput", statements / $(NF - 1) }'
