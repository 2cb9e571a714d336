#!/bin/sh
# Instructions of our whole process for one more scan, beside those of a loop on the same SQLite and
# file: times differ by more from call to call than the two do.
set -eu
if ! command -v valgrind > /dev/null; then
    echo "SKIPPED: valgrind is not installed"
    exit
fi
valgrind="valgrind --tool=callgrind --callgrind-out-file=/dev/null"
references() { sed -n 's/.*refs: *//p' | tr -d ,; }
instructions() {
    export SCANS="$2" WARMUP="0 s"
    # Writes the file, and the data set where it is not kept: neither is to be counted.
    sh "$BENCH/analytics/ours.sh" scan sqlite > /dev/null
    case $1 in
    ours) $valgrind steelbench run scan.toml --fresh 2>&1 > scan.txt | references ;;
    peer) COUNTER="$valgrind" sh "$BENCH/analytics/peer.sh" scan loop 2>&1 | references ;;
    esac
}
a_scan() { echo $((($(instructions "$1" 6) - $(instructions "$1" 2)) / 4)); }
ours=$(a_scan ours) peer=$(a_scan peer)
awk -v ours="$ours" -v peer="$peer" 'BEGIN {
    printf "instructions of a scan ours / loop (%d and %d): %.4f, goal 1.01\n", ours, peer, ours / peer }'
