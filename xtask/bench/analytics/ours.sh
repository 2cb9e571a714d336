#!/bin/sh
# Loads LINEITEM as one of our trials does, or scans a kept copy: seconds of the load, milliseconds of
# a scan. ours.sh load | scan ENGINE
set -eu
case $2 in
sqlite) target='engine = "sqlite"
settings = { cache_size = -2000000 }' ;; # a cache that holds the table
duckdb) target="engine = \"duckdb\"
library = \"$STEELBENCH_DUCKDB_LIB\"" ;;
postgres) target="engine = \"postgres\"
url = \"host=$SERVER user=$PGUSER dbname=$PGDATABASE\"" ;;
esac
export target
# A load is of data that no cache has.
case $1 in
load) export data="$(printf %.9s "$STEELBENCH_SEED")" scans=1 warmup="0 s" ;;
scan) export data=0 scans="${SCANS:-8}" warmup="${WARMUP:-200 ms}" ;;
esac
sh "$BENCH/ours.sh" ours/scan.toml | grep '^scan '
sqlite3 results/ours-scan.steelbench "SELECT 'elapsed ' || value FROM facts WHERE name = 'load_s'
    ORDER BY trial DESC LIMIT 1"
