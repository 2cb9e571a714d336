#!/bin/sh
# The wall time of a run that is not a measurement, at trials of five seconds.
set -eu
before=$(date +%s.%N)
steelbench run "$BENCH/ours/overhead.toml" --fresh --json > overhead.json
after=$(date +%s.%N)
jq -rs --argjson before "$before" --argjson after "$after" '
    [.[] | select(.event == "trial_finished")
        | {wall_s, elapsed_s: (.responses[] | select(.name == "elapsed").value)}] as $trials
    | ($trials | map(.elapsed_s) | add) as $measured
    | "\($trials | length) trials, \($measured) s measured: " +
      "overhead \(($after - $before - $measured) / $measured * 1000 | round / 10) %, goal 5 %",
      "a trial without its measurement: " +
      "\($trials | map((.wall_s - .elapsed_s) * 1000 | round) | sort) ms"' overhead.json
