#!/bin/sh
# Runs a command and prints its seconds.
set -eu
before=$(date +%s%N)
"$@"
echo "elapsed $(($(date +%s%N) - before))e-9"
