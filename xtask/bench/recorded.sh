#!/bin/sh
# Makes results files of 10,000 trials in the folder `recorded`: copies of one trial that ran.
set -eu
rm -rf recorded
mkdir recorded
list() { seq -s ", " "$1"; }
record() {
    export name="$1" factors="$2"
    case "$2" in *connections*) connections="" ;; *) connections="connections = 1" ;; esac
    export connections
    file=$(sh "$BENCH/template.sh" ours/recorded.toml)
    # It ends at its limit of time, which is a failure.
    steelbench run "$file" --results "recorded/$name.steelbench" > recorded/run.txt 2>&1 || true
    python3 "$BENCH/multiply.py" "recorded/$name.steelbench" "$3"
}
record 4-configurations "\"target.data_files\" = [$(list 4)]" 2500
record 5000-configurations "\"target.data_files\" = [$(list 50)]
\"workload.rows_per_transaction\" = [$(list 100)]" 2
record models "\"workload.connections\" = [1, 2, 4, 8, 16]
\"workload.rows_per_transaction\" = [$(list 1000)]" 2
rm -f recorded/*.html recorded/run.txt
