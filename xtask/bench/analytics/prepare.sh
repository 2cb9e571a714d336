#!/bin/sh
# Starts a server and writes LINEITEM (TPC-H, 1.4.1) as a file, with `char(n)` padded as in ours.
set -eu
rm -rf cache
sh "$BENCH/postgres.sh" start
steelbench data lineitem --scale "$SCALE" --output . > data.txt
# Only the last column has commas of its own.
awk -F, -v OFS=, 'NR > 1 { $14 = sprintf("%-25s", $14); $15 = sprintf("%-10s", $15) } { print }' \
    lineitem.csv > padded.csv
rm lineitem.csv
sh "$BENCH/analytics/peer.sh" install
