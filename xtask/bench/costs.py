"""Costs of a program that times commands, by a line through two numbers of runs of `true`."""

import json
import subprocess
import sys
import time

FEW, MANY = 500, 5000


def timed(runs):
    start = time.monotonic()
    options = ["--export-json", "costs.json", "-N", "-r", str(runs), "true"]
    subprocess.run(sys.argv[1:] + options, check=True, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - start
    times = json.load(open("costs.json"))["results"][0]["times"]
    assert len(times) == runs, f"{len(times)} times instead of {runs}"
    return wall, wall - sum(times)


(short, short_overhead), (long, long_overhead) = timed(FEW), timed(MANY)
overhead = (long_overhead - short_overhead) / (MANY - FEW)
print("call", 1e3 * (short_overhead - overhead * FEW))
print("overhead", 1e6 * overhead)
print("run", 1e6 * (long - short) / (MANY - FEW))
