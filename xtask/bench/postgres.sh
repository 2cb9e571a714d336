#!/bin/sh
# A PostgreSQL server of the distribution's version in $SERVER, reached by the PG* variables.
# postgres.sh start [OPTION OF postgres]... | stop
set -eu
user=""
# Servers refuse to run as root.
[ "$(id -u)" != 0 ] || user="setpriv --reuid=postgres --regid=postgres --clear-groups"
cd "${TMPDIR:-/tmp}"
if [ "$1" = stop ]; then
    $user pg_ctl --silent --mode immediate --pgdata "$SERVER/data" stop || true
    rm -rf "$SERVER"/*
    exit
fi
shift
[ -z "$user" ] || chown postgres "$SERVER"
$user initdb --username "$PGUSER" --auth trust --no-sync --pgdata "$SERVER/data" > /dev/null
options="-c listen_addresses= -c unix_socket_directories=$SERVER -c max_connections=300"
options="$options -c synchronous_commit=off -c shared_buffers=512MB -c max_wal_size=8GB"
$user pg_ctl --silent --wait --pgdata "$SERVER/data" --log "$SERVER/log" \
    --options "$options -c checkpoint_timeout=1h $*" start > /dev/null
createdb "$PGDATABASE"
