#!/bin/sh
# Errors of the cost models of the ready experiment when they predict a configuration from the
# others, and the parts of the worst of these predictions.
set -eu
steelbench run "$ROOT/experiments/scan/scan-cost.toml" --fresh > scan-cost.txt
steelbench show scan-cost --json | jq -r '
    def percent: 1000 * . | round / 10 | "\(.) %";
    def short: 1e4 * . | round / 1e4;
    ("sqlite", "postgres", "duckdb") as $engine
    | [.costs[] | select(.group == "engine=" + $engine) | .access as $access | .rows[]
        | select(.error and .predicted_ms) | . + {access: (if $access then " (\($access))" else "" end)}]
    | sort_by(-(.error | fabs))
    | if . == [] then error("no cost model of \($engine): is it installed?") else . end
    | (map(.error | fabs) | sort | .[length / 2 | floor]) as $median
    | "error of the cost model for an unseen table, \($engine): median \($median | percent) " +
      "of \(length), goal 10 %",
      (.[:8][] | .predicted_ms as $all
        | "  \(.error | percent): \(.label)\(.access): measured \(.measured.mean | short) ms " +
          "(blocks \(.measured.min | short) to \(.measured.max | short)), predicted " +
          "\($all | short) ms of: " +
          ([.parts[] | select(.ms >= 0.01 * $all) | "\(.name) \(.ms / $all | percent)"]
            | join(", ")))'
