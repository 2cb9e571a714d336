#!/bin/sh
# Loads LINEITEM, its key and statistics included, or scans it, by an engine's own loader or shell.
# Prints seconds of a load, or milliseconds of a scan: the mean of 8 after a first one, which fills
# caches. peer.sh install | load ENGINE | scan ENGINE
set -eu
key="PRIMARY KEY (l_orderkey, l_linenumber)"
scan="SELECT sum(l_partkey), sum(l_suppkey), sum(l_linenumber), sum(l_quantity) FROM lineitem"
create=$(cat "$BENCH/analytics/lineitem.sql")
export PYTHONPATH="$PWD/python-duckdb-$DUCKDB_VERSION"
timed() { sh "$BENCH/elapsed.sh" "$@"; }
mean() { awk 'NR > 1 { sum += $1; count++ } END { print "scan", count == 8 ? sum / count : "-" }'; }
scans() { for _ in 1 2 3 4 5 6 7 8 9; do echo "$scan;"; done; }
case "$*" in
install)
    [ -d "$PYTHONPATH/duckdb" ] || python3 -m pip install --quiet --disable-pip-version-check \
        --target "$PYTHONPATH" "duckdb==$DUCKDB_VERSION"
    ;;
"load sqlite")
    rm -f peer.db
    types='s/BIGINT/INTEGER/g; s/DECIMAL(15,2)/REAL/g; s/VARCHAR([0-9]*)\|CHAR([0-9]*)\|DATE/TEXT/g'
    create=$(echo "$create" | sed "$types; s/);\$/, $key) WITHOUT ROWID;/")
    timed sqlite3 peer.db "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF" "$create" \
        ".import --csv --skip 1 padded.csv lineitem"
    ;;
"load duckdb")
    rm -f peer.duckdb
    python3 "$BENCH/analytics/peer_duckdb.py" "$create" "COPY lineitem FROM 'padded.csv' (HEADER)" \
        "ALTER TABLE lineitem ADD $key" CHECKPOINT
    ;;
"load postgres")
    psql -qXc "DROP TABLE IF EXISTS lineitem" -c "$create"
    timed psql -qX -c BEGIN -c "TRUNCATE lineitem" \
        -c "\\copy lineitem FROM 'padded.csv' WITH (FORMAT csv, HEADER, FREEZE)" -c COMMIT \
        -c "VACUUM ANALYZE lineitem" -c "ALTER TABLE lineitem ADD $key"
    ;;
"scan duckdb") python3 "$BENCH/analytics/peer_duckdb.py" scan "$scan" | mean ;;
"scan postgres")
    # `Time: 123.456 ms (00:00.123)`
    { printf "%s\n" "\\timing on" && scans; } > scans.sql
    psql -qAtX -f scans.sql | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | mean
    ;;
"scan sqlite")
    # `Run Time: real 0.123 user 0.120 sys 0.003`
    { echo "PRAGMA cache_size = -2000000;" && echo ".timer on" && scans; } | sqlite3 peer.db |
        awk '/^Run Time: real/ { print 1000 * $4 }' | mean
    ;;
"scan loop")
    # On the file that our trials scan, so that both read the same pages.
    file=$(find cache/steelbench/sqlite -maxdepth 1 -name 'data-*' -printf '%T@ %p\n' | sort -n | tail -1)
    echo "scan $(${COUNTER:-} straight_scan "${file#* }" "$scan" "${SCANS:-8}")"
    ;;
esac
