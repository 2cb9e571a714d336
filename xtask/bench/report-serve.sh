#!/bin/sh
# Pages of `serve` of the results files of bench-report.
set -eu
sh "$BENCH/recorded.sh"
python3 "$BENCH/visit.py" steelbench recorded
rm -rf recorded
