#!/bin/sh
# A MariaDB server of the distribution's version in the folder NAME of $SERVER with its socket.
# mariadb.sh start NAME [OPTION OF mariadbd]... | stop | sql NAME SQL
set -eu
client() {
    mariadb --no-defaults --user=root --local-infile=1 -BN --socket="$SERVER/$1/sock" -e "$2"
}
case "$1" in
sql) client "$2" "$3" ;;
stop)
    for pid in "$SERVER"/*/pid; do
        kill -9 "$(cat "$pid")" || true
    done
    rm -rf "$SERVER"/*
    ;;
start)
    name=$2 folder=$SERVER/$2 user=""
    shift 2
    mkdir "$folder"
    # Servers refuse to run as root.
    [ "$(id -u)" != 0 ] || user=--user=mysql
    [ -z "$user" ] || chown mysql "$folder"
    export TMPDIR="$folder"
    mariadb-install-db --no-defaults --auth-root-authentication-method=normal --skip-test-db \
        --datadir="$folder/data" $user > /dev/null
    mariadbd --no-defaults --datadir="$folder/data" $user --socket="$folder/sock" \
        --pid-file="$folder/pid" --skip-networking --local-infile=ON --max-connections=300 \
        --innodb-buffer-pool-size=512M --innodb-flush-log-at-trx-commit=0 "$@" \
        > "$folder/log" 2>&1 &
    for _ in $(seq 600); do
        ! client "$name" "DO 0" 2> /dev/null || exit 0
        sleep 0.1
    done
    echo "mariadbd does not start: $(tail -n 5 "$folder/log")" >&2
    exit 1
    ;;
esac
