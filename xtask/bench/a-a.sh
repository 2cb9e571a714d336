#!/bin/sh
# Runs experiments whose levels differ in name only, and counts the comparisons with the baseline
# that come out different at 95 %. About one in twenty is what 95 % means.
set -eu
for seed in $(seq "${RUNS:-6}"); do
    export seed
    sh "$BENCH/ours.sh" ours/a-a.toml > /dev/null
    steelbench show ours-a-a --json
done | jq -rs '
    def p(name): [.configurations[].factor[name] // empty];
    map({single: p("p_value"), adjusted: p("adjusted_p")}) as $runs
    | ($runs | map(.single[]) | [length, (map(select(. < 0.05)) | length)]) as [$all, $different]
    | "\($runs | length) runs of 8 identical levels: \($different) of \($all) single comparisons " +
      "called different at 95 %; after Holm " +
      "\($runs | map(select(any(.adjusted[]; . < 0.05))) | length) runs claim a difference"'
