#!/bin/sh
# go-tpc, in the last version that its module has, on a server of mariadb.sh. go-tpc.sh start | run
set -eu
tpcc() {
    go/go-tpc tpcc --warehouses 1 -H 127.0.0.1 -U root -D tpcc -P "$(cat "$SERVER/port")" "$@"
}
if [ "$1" = start ]; then
    [ -x go/go-tpc ] || GOBIN="$PWD/go" go install github.com/pingcap/go-tpc/cmd/go-tpc@v1.0.7
    python3 -c "import socket; s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1])" \
        > "$SERVER/port"
    echo "mariadb://root@127.0.0.1:$(cat "$SERVER/port")/" > "$SERVER/url"
    sh "$BENCH/mariadb.sh" start order-entry --performance-schema=OFF --skip-networking=OFF \
        --bind-address=127.0.0.1 --port="$(cat "$SERVER/port")"
    sh "$BENCH/mariadb.sh" sql order-entry "CREATE DATABASE tpcc"
    tpcc -T 1 prepare --no-check > /dev/null
    exit
fi
# A thread would end with its first deadlock. `[Summary] NEW_ORDER - Takes(s): 4.9, Count: 12, ...`;
# failed transactions are NEW_ORDER_ERR.
# shellcheck disable=SC2154 # a parameter of the experiment
tpcc -T "$connections" run --time 5s --ignore-error --silence | awk '
    /^\[Summary\]/ && $2 !~ /_ERR$/ { sub(/.*Count: /, ""); sub(/,.*/, ""); count += $0 }
    END { print "done", count; print "throughput", count / 5 }'
