"""Runs the experiments of the folder `models` and prints the fit of their models at levels that these
have not used, and predicted changes beside the changes made: the tables of docs/models.md."""

import json
import os
import pathlib
import re
import statistics
import subprocess

FOLDER = pathlib.Path(os.environ["BENCH"], "models")
# Replacements in the file of an experiment, and the settings of the prediction.
CHANGES = [
    ("postgres-select", ["connections=8", "cpus=1"], [(r"(connections\" =) .*", r"\1 [8]")]),
    ("postgres-update", ["connections=8", "cpus=1"], [(r"(connections\" =) .*", r"\1 [8]")]),
    ("throttled", ["queue_depth=8", "device.slow.latency=0.5x"],
     [(r"(queue_depth\" =) .*", r"\1 [8]"), (r"read_iops = 2000", "read_iops = 4000")]),
    ("sqlite-insert", ["connections=4", "data_files=1", "waits.WRITER_LOCK=0"],
     [(r"(connections\" =) .*", r"\1 [4]"), (r"(data_files\" =) .*", r"\1 [4]")]),
]
errors, factors, held = [], [], 0


def steelbench(*arguments, before=()):
    command = [*before, "steelbench", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def attempt(name, *arguments):
    try:
        return steelbench(*arguments)
    except subprocess.CalledProcessError as error:
        print(f"SKIPPED: {name}: {error.stderr.strip().splitlines()[-1]}")


def row(cells, predicted, interval, measured, covered):
    numbers = f"{predicted:.0f} | {interval['low']:.0f} to {interval['high']:.0f}"
    missed = "" if covered else " (missed)"
    error = 100 * (predicted / measured - 1)
    print("|", " | ".join(cells), f"| {numbers}{missed} | {measured:.0f} | {error:+.1f} % |")


print("| experiment | model | level | predicted | 95 % interval | measured | error |")
print("|---|---|---|---|---|---|---|")
for file in sorted(FOLDER.glob("*.toml")):
    name = f"models-{file.stem}"
    if attempt(name, "run", file, "--fresh") is None:
        continue
    for model in json.loads(steelbench("show", name, "--json"))["models"]:
        best = model["candidates"][0]
        for test in best["tested"]:
            row([name, best["model"], str(test["n"])], test["predicted"], test["interval"],
                test["measured"], test["covered"])
            errors.append(abs(test["error"]))
            factors.append(test["interval"]["high"] / test["interval"]["low"])
            held += test["covered"]
print(f"median error {100 * statistics.median(errors):.1f} %, intervals hold {held} of {len(errors)}, "
      f"median factor between their ends {statistics.median(factors):.2f}")

mix = attempt("models-postgres-mix", "predict", "models-postgres-mix", "--set", "connections=32", "--json")
if mix:
    error = json.loads(mix)["by_script"]["error_median"]
    print(f"models-postgres-mix: median error of the latencies of scripts {100 * error:.1f} %")

print("\n| experiment | change | predicted | 95 % interval | measured | error |")
print("|---|---|---|---|---|---|")
for stem, settings, replaced in CHANGES:
    name = f"models-{stem}"
    sets = [word for change in settings for word in ("--set", change)]
    answer = attempt(name, "predict", name, "--json", *sets)
    if answer is None:
        continue
    answer = json.loads(answer)
    text = (FOLDER / f"{stem}.toml").read_text().replace(name, f"{name}-changed")
    for old, new in replaced:
        text = re.sub(old, new, text)
    file = pathlib.Path(f"{name}-changed.toml")
    file.write_text(text)
    before = ("taskset", "-c", "0") if "cpus=1" in settings else ()
    events = steelbench("run", file, "--fresh", "--json", before=before).splitlines()
    trials = [event for event in map(json.loads, events) if event["event"] == "trial_finished"]
    measured = statistics.mean(
        response["value"] for trial in trials for response in trial["responses"]
        if response["name"] in ("throughput", "iops"))
    low, high = answer["interval"]["low"], answer["interval"]["high"]
    row([name, ", ".join(settings)], answer["throughput"], answer["interval"], measured, low <= measured <= high)
