#!/bin/sh
# fio's figures of a load, named as those of Steelbench: IOPS, MB/s, us. Its latency begins when the
# I/O is made, `clat` when the call that submits has returned; ours begins just before that call.
# fio.sh fill: makes the file, which fits in memory.
set -eu
file=--filename=$PWD/disk.data
if [ "${1:-}" = fill ]; then
    [ "$(stat -c %s disk.data 2> /dev/null)" = 1073741824 ] || fio --name=fill --rw=write --bs=1M \
        --refill_buffers --end_fsync=1 --size=1G "$file"
    exit
fi
case $pattern in random-read) rw=randread ;; *) rw=randwrite ;; esac
case $direct in true) direct=1 ;; *) direct=0 ;; esac
# The most ended I/Os that fio takes together, 1 by default: those that wait to be taken count as in
# flight. We take all that there are.
# shellcheck disable=SC2154 # parameters of the experiment
fio --name=bench --ioengine=io_uring --registerfiles --fixedbufs --time_based --ramp_time=500ms \
    --norandommap --randrepeat=0 --invalidate=0 --lat_percentiles=1 --clat_percentiles=0 \
    --percentile_list=50:99 --output-format=json --output=fio.json --rw="$rw" --bs="${block}k" \
    --iodepth="$depth" --iodepth_batch="$batch" --iodepth_batch_complete_min="$batch" \
    --iodepth_batch_complete_max="${most:-$depth}" --direct="$direct" \
    --runtime=3 "$file"
# Warnings can stand before the JSON.
sed -n '/^{/,$p' fio.json | jq -r --arg side "${rw#rand}" '.jobs[0] | .[$side] as $io
    | "iops \($io.iops)",
      "bandwidth \($io.bw_bytes / 1e6)",
      "latency_mean \($io.lat_ns.mean / 1e3)",
      "clat \($io.clat_ns.mean / 1e3)",
      "latency_p50 \($io.lat_ns.percentile["50.000000"] / 1e3)",
      "latency_p99 \($io.lat_ns.percentile["99.000000"] / 1e3)",
      "cpu \((.usr_cpu + .sys_cpu) / 100 * .job_runtime * 1e3 / $io.total_ios)"'
