#!/bin/sh
# Runs a peer and prints the microseconds of CPU time for each of its transactions.
set -eu
output=$("$@")
printf '%s\n' "$output"
times > "$SERVER/times"
printf '%s\n' "$output" | awk '
    FILENAME != "-" { split($0, part, /[ms ]+/); cpu = part[1] * 60 + part[2] + part[3] * 60 + part[4] }
    /^done / || /transactions actually processed/ { print "client_cpu", cpu * 1e6 / $NF }' \
    "$SERVER/times" -
