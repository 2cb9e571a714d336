# shellcheck shell=sh
# Runs `copy` while a run of ours has filled its tables: read by the scripts beside it, which set
# what the template needs and `is_ready`.
tables="warehouse district customer history orders new_order item stock order_line"
export load='connections = 1
duration = "1 h"'

with_our_tables() {
    file=$(sh "$BENCH/template.sh" ours/order-entry.toml)
    XDG_CACHE_HOME="$PWD/tables" steelbench run "$file" --fresh > tables.txt 2>&1 &
    run=$!
    for _ in $(seq 1500); do
        ! is_ready || break
        sleep 0.2
    done
    copy
    # An interrupted run removes its tables.
    kill -INT $run
    wait $run || true
}
