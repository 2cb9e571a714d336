#!/bin/sh
# Runs an experiment of this folder from its template. Prints each response of its trial, its wall
# time and the transactions as "NAME VALUE".
# ours.sh FILE [OPTION OF run]...
set -eu
file=$(sh "$BENCH/template.sh" "$1")
shift
steelbench run "$file" --fresh --json "$@" | awk '
    function print_value(name, text, begin) {
        sub(".*\"" begin "\":", "", text)
        sub("[,}].*", "", text)
        print name, text
        return text
    }
    /"event":"trial_finished"/ {
        count = split($0, parts, "\"name\":\"")
        for (at = 2; at <= count; at++) {
            name = parts[at]
            sub("\".*", "", name)
            figures[name] = print_value(name, parts[at], "value")
        }
        print_value("wall", $0, "wall_s")
        printf "done %.0f\n", figures["throughput"] * figures["elapsed"]
    }'
