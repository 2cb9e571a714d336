#!/bin/sh
# CPU time of the server for half a minute of pgbench, and the share of the sessions of `queries`.
# queries-share.sh on | off
set -eu
postmaster=$(head -n 1 "$SERVER/data/postmaster.pid")
# Hundredths of a second of the server's processes, and of those that have ended.
ticks() {
    {
        sed 's/.*) //' "/proc/$postmaster/stat" | cut -d ' ' -f 12-15
        for child in $(cat "/proc/$postmaster/task/$postmaster/children"); do
            # A child that has ended in between counts with those that have ended.
            sed 's/.*) //' "/proc/$child/stat" 2> /dev/null | cut -d ' ' -f 12,13
        done
    } | tr ' ' '\n' | awk '{ sum += $1 } END { print sum }'
}
before=$(ticks)
if [ "$1" = on ]; then
    rm -f share.steelbench
    steelbench queries "host=$SERVER user=$PGUSER dbname=$PGDATABASE" --every 5s \
        --output share.steelbench > share.txt &
    watch=$!
fi
pgbench -n -M prepared -c 4 -j 1 -R 1500 -T 30 > /dev/null
sessions=$(psql -qAtXc \
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'steelbench queries'")
case $1$sessions in on | off?*) echo "sessions of queries: $sessions" >&2 && exit 1 ;; esac
# By the scheduler's own count.
used_ns=0
for pid in $sessions; do
    used_ns=$((used_ns + $(cut -d ' ' -f 1 "/proc/$pid/schedstat")))
done
all=$(($(ticks) - before))
if [ "$1" = on ]; then
    kill -INT $watch
    wait $watch || true
fi
awk -v all=$all -v ns=$used_ns 'BEGIN {
    print "server", all / 100
    print "share", 100 * ns / 1e9 / (all / 100)
    print "interval", ns / 1e6 / 6 # intervals of 5 s in 30 s
}'
