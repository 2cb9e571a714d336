"""Reads a workbook with openpyxl and holds every figure against the recording and the summary as JSON.

Arguments: the workbook, the output of `export --format json`, the output of `show --json`.
Prints what differs and ends with 1; else prints how many cells it held against the JSON.
"""

import json
import math
import re
import statistics
import sys
import unicodedata
from datetime import datetime, timedelta

from openpyxl import load_workbook

EXACT = 2**53
NOTE = " (above 2^53 as text)"
SHEETS = ["Verdict", "Response", "Profile", "Configurations", "Report", "Trials", "Waits", "Latencies", "Statements", "Operations", "Series",
          "Devices", "Functions", "Settings", "Environment", "Experiment", "Files"]
wrong = []
held = 0


def spelled(text):
    """Control characters as the program spells them out."""
    def one(c):
        turns = c in "\u061c\u200e\u200f" or "\u2028" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"
        if unicodedata.category(c) != "Cc" and not turns:
            return c
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(c, "\\u{%x}" % ord(c))
    return "".join(map(one, text))


def unescaped(text):
    """What no XML can hold is written as `_xFFFE_`, and so read by spreadsheets; openpyxl leaves it as it is."""
    return re.sub("_x(FFF[EF])_", lambda m: chr(int(m[1], 16)), text)


def written(value):
    """A JSON value as its cell should read."""
    if value is None or value == "" or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, str):
        text = spelled(value)
        if len(text.encode("utf-16-le")) // 2 > 32767:
            note = f"... (cut: {len(text)} characters in all)"
            kept = text.encode("utf-16-le")[: 2 * (32767 - len(note))].decode("utf-16-le", "ignore")
            return kept + note
        return text
    if isinstance(value, int) and not isinstance(value, bool) and value > EXACT:
        return str(value)
    return value


def same(cell, wanted, tolerance=0.0):
    wanted = written(wanted)
    if isinstance(cell, str):
        cell = unescaped(cell)
    if isinstance(wanted, bool) or isinstance(wanted, str) or wanted is None:
        return type(cell) is type(wanted) and cell == wanted
    if isinstance(cell, bool) or not isinstance(cell, (int, float)):
        return False
    return cell == wanted or math.isclose(cell, wanted, rel_tol=tolerance, abs_tol=0.0)


def check(where, cell, wanted, tolerance=0.0):
    global held
    held += 1
    if not same(cell, wanted, tolerance):
        wrong.append(f"{where}: the workbook has {cell!r}, the JSON {wanted!r}")


def rows(book, name):
    """The rows of a sheet's table as heading to value; checks what every sheet has to be."""
    sheet = book[name]
    assert len(sheet.tables) == 1, f"{name}: {len(sheet.tables)} tables"
    table = next(iter(sheet.tables.values()))
    assert table.autoFilter is not None, f"{name}: no filter"
    first, last = sheet[table.ref][0], sheet[table.ref][-1]
    assert sheet.freeze_panes == f"A{first[0].row + 1}", f"{name}: {sheet.freeze_panes}"
    headings = [cell.value for cell in first]
    assert headings == [column.name for column in table.tableColumns], f"{name}: headings are not the table's"
    assert len({heading.lower() for heading in headings}) == len(headings), f"{name}: a heading twice"
    for cells in sheet.iter_rows():
        for cell in cells:
            assert cell.data_type != "f", f"{name}!{cell.coordinate} is a formula: {cell.value}"
            if isinstance(cell.value, str) and cell.value[:1] in "=+-@" and cell.value:
                assert cell.quotePrefix, f"{name}!{cell.coordinate} becomes a formula when it is edited"
    plain = [heading.removesuffix(NOTE) for heading in headings]
    found = [dict(zip(plain, [cell.value for cell in cells])) for cells in sheet[table.ref][1:]]
    for heading, plainly in zip(headings, plain):
        large = any(isinstance(row[plainly], str) and row[plainly].isdigit() and int(row[plainly]) > EXACT
                    for row in found)
        assert heading.endswith(NOTE) == large, f"{name}: {heading} does not tell how large numbers are written"
    assert last[0].row == sheet.max_row, f"{name}: cells below the table"
    # A table without rows keeps an empty one.
    return [row for row in found if any(value is not None for value in row.values())]


def trials(book, run):
    """Each row with its trial, after holding what all tables begin with against it."""
    def begin(name, expected):
        found = rows(book, name)
        if len(found) != len(expected):
            wrong.append(f"{name}: {len(found)} rows, not {len(expected)}")
        for row, (number, part) in zip(found, expected):
            trial = run["trials"][number - 1]
            configuration = run["configurations"][trial["configuration"]]
            check(f"{name}.run", row["run"], run["run"]["id"])
            check(f"{name}.trial", list(row.values())[1], number)
            check(f"{name}.configuration", row["configuration"], configuration["label"])
            check(f"{name}.block", list(row.values())[3], trial["block"])
            check(f"{name}.attempt", list(row.values())[4], trial["attempt"])
            for place, factor in enumerate(run["factors"]):
                label = next(l["level"] for l in configuration["levels"] if l["factor"] == factor["name"])
                level = factor["numeric"][factor["levels"].index(label)] if factor["numeric"] else label
                check(f"{name}.{factor['name']}", list(row.values())[5 + place], level)
            check(f"{name}.status", list(row.values())[5 + len(run["factors"])], trial["status"]["status"])
            yield row, trial, part
    return begin


def seen(run, part):
    return [(number, item) for number, trial in enumerate(run["trials"], 1) if trial["observations"]
            for item in part(trial["observations"])]


def check_trials(begin, run):
    figures = []
    for kind in ("responses", "facts"):
        for _, figure in seen(run, lambda o: o.get(kind, [])):
            if (kind, figure["name"], figure["unit"]) not in figures:
                figures.append((kind, figure["name"], figure["unit"]))
    for row, trial, _ in begin("Trials", [(n, None) for n in range(1, len(run["trials"]) + 1)]):
        o = trial["observations"] or {}
        part = lambda name: o.get(name) or {}
        check("sequence", row["sequence"], trial["sequence"])
        started = datetime(1970, 1, 1) + timedelta(milliseconds=trial["started_ms"])
        if abs(row["started (UTC)"] - started) > timedelta(milliseconds=1):
            wrong.append(f"started: {row['started (UTC)']} is not {started}")
        check("wall", row["whole trial (s)"], trial["wall_s"])
        start = 5 + len(run["factors"]) + 2
        for place, (kind, *key) in enumerate(figures):
            own = [r["value"] for r in o.get(kind, []) if [r["name"], r["unit"]] == key]
            check(f"{kind} {key}", list(row.values())[start + place], own[0] if own else None)
        warnings = o.get("warnings", [])
        check("warnings", row["warnings"], " ".join(m["kind"].replace("_", "-") for m in warnings))
        check("details", row["warning details"], "; ".join(m["detail"] for m in warnings))
        check("cause", row["cause of failure"], trial["status"].get("cause"))
        session_s = part("time").get("session_s")
        check("CPU share", row["CPU share"], part("time")["cpu_s"] / session_s if session_s else None, 1e-12)
        for heading, wanted in {
            "synthetic": o.get("synthetic"), "elapsed (s)": o.get("elapsed_s"),
            "connections": o.get("connections"), "work amount": part("work").get("amount"),
            "work unit": part("work").get("unit"), "transactions": part("work").get("transactions"),
            "errors": part("work").get("errors"), "retries": part("work").get("retries"),
            "sessions (s)": part("time").get("session_s"), "CPU (s)": part("time").get("cpu_s"),
            "CPU in user mode (s)": part("time").get("cpu_user_s"),
            "client share": part("load").get("client_share"),
            "run delay share": part("load").get("run_delay_share"),
            "sends intended": part("load").get("sends_intended"),
            "sends missed": part("load").get("sends_missed"),
            "longest send delay (us)": part("load").get("send_delay_us_max"),
            "machine CPUs": part("machine").get("cpus"), "machine busy (s)": part("machine").get("busy_s"),
            "machine own (s)": part("machine").get("own_s"),
            "machine steal (s)": part("machine").get("steal_s"),
            "machine iowait (s)": part("machine").get("iowait_s"),
        }.items():
            check(heading, row[heading], wanted)


def check_waits(begin, run):
    """The nine columns computed again from the waits of each trial; of all waits but those for the client and idle
    ones, which have no percentage."""
    def table(observations):
        own = [w for w in observations["waits"] if w["class"] not in ("client", "idle")]
        own = [w for w in own if w["resource_s"] + w["signal_s"] != 0 or w["count"]]
        total = math.fsum(w["resource_s"] + w["signal_s"] for w in own)
        return [(w, total if w in own else None) for w in observations["waits"]]
    for row, _, (wait, total) in begin("Waits", seen(run, table)):
        wait_s, count = wait["resource_s"] + wait["signal_s"], wait["count"]
        for heading, wanted in {
            "WaitType": wait["wait_type"], "wait (s)": wait_s, "resource (s)": wait["resource_s"],
            "signal (s)": wait["signal_s"], "class": wait["class"],
            "Percentage": None if total is None else wait_s / total if total else 0.0,
            "average wait (s)": wait_s / count if count else None,
            "average resource (s)": wait["resource_s"] / count if count else None,
            "average signal (s)": wait["signal_s"] / count if count else None,
        }.items():
            check(heading, row[heading], wanted, 1e-12)
        check("WaitCount", row["WaitCount"], count)
        source = wait["source"] if isinstance(wait["source"], dict) else {}
        sampled, server = source.get("sampled", {}), source.get("server", {})
        check("sampled", row["sampled (Hz)"], sampled.get("hz"))
        check("samples", row["samples"], sampled.get("samples"))
        check("counter", row["counter"], server.get("counter"))
        check("error", row["standard error (s)"], sampled.get("error_s") or server.get("error_s"), 1e-12)


def check_latency(begin, run):
    """Percentiles from the recorded pairs: a histogram's values are right within 0.1 %."""
    kept = lambda o: [latency for latency in o["latencies"] if latency["histogram"]]
    for row, _, latency in begin("Latencies", seen(run, kept)):
        pairs = sorted(latency["histogram"])
        total = sum(count for _, count in pairs)
        check("latency", row["latency"], latency["name"])
        check("recorded", row["count"], total)
        check("smallest", row["min (ms)"], pairs[0][0] / 1e6, 1e-3)
        check("largest", row["max (ms)"], pairs[-1][0] / 1e6, 1e-3)
        check("mean", row["mean (ms)"], sum(v * n for v, n in pairs) / total / 1e6, 1e-3)
        for percentile in (50, 90, 95, 99, 99.9, 99.99):
            below, wanted = 0, max(1, math.ceil(round(percentile * total / 100, 9)))
            for value, count in pairs:
                below += count
                if below >= wanted:
                    break
            check(f"p{percentile}", row[f"p{percentile} (ms)"], value / 1e6, 1e-3)


def check_series(begin, run):
    intervals = lambda o: [(s, i) for s in o["series"] for i in range(len(s["values"]))]
    for row, _, (series, at) in begin("Series", seen(run, intervals)):
        start = series["start_s"] + at * series["interval_s"]
        for heading, wanted in {
            "series": series["name"], "unit": series["unit"], "start (s)": start,
            "interval (s)": series["interval_s"], "warm up": start < 0, "value": series["values"][at],
        }.items():
            check(heading, row[heading], wanted)


def check_devices(begin, run):
    for row, _, used in begin("Devices", seen(run, lambda o: o["devices"])):
        per = lambda amount, of: amount / of if of > 0 else None
        for heading, wanted in {
            "volume": used["volume"], "device": used["device"], "reads": used["reads"],
            "read bytes": used["read_bytes"], "writes": used["writes"], "write bytes": used["write_bytes"],
            "flushes": used["flushes"], "read (s)": used["read_s"], "write (s)": used["write_s"],
            "flush (s)": used["flush_s"], "busy (s)": used["busy_s"], "queue (s)": used["queue_s"],
            "device elapsed (s)": used["elapsed_s"],
        }.items():
            check(heading, row[heading], wanted)
        for heading, wanted in {
            "reads per s": per(used["reads"], used["elapsed_s"]),
            "writes per s": per(used["writes"], used["elapsed_s"]),
            "MB per s": per((used["read_bytes"] + used["write_bytes"]) / 1e6, used["elapsed_s"]),
            "read mean (ms)": per(used["read_s"] * 1e3, used["reads"]),
            "write mean (ms)": per(used["write_s"] * 1e3, used["writes"]),
            "flush mean (ms)": per(used["flush_s"] * 1e3, used["flushes"]),
            "utilisation": per(used["busy_s"], used["elapsed_s"]),
            "queue mean": per(used["queue_s"], used["elapsed_s"]),
        }.items():
            check(heading, row[heading], wanted, 1e-12)


def check_statements(begin, run):
    for row, _, own in begin("Statements", seen(run, lambda o: o.get("statements", []))):
        for heading, wanted in {
            "script": own["script"], "statement": own["text"], "count": own["count"],
            "statement wall (s)": own["wall_s"], "failures": own["failures"], "retries": own["retries"],
        }.items():
            check(heading, row[heading], wanted)
        check("mean (ms)", row["mean (ms)"], own["wall_s"] * 1e3 / own["count"] if own["count"] else None, 1e-12)
        check("max (ms)", row["max (ms)"], own["wall_s_max"] * 1e3, 1e-12)


def check_operations(begin, run):
    for row, _, operation in begin("Operations", seen(run, lambda o: o["operations"])):
        for heading, name in {"operation": "name", "count": "count", "bytes": "bytes",
                              "operation wall (s)": "wall_s"}.items():
            check(heading, row[heading], operation[name])


def check_functions(begin, run):
    profiles = lambda o: [(o["profile"], f) for f in o["profile"]["frames"]] if o.get("profile") else []
    for row, _, (profile, frame) in begin("Functions", seen(run, profiles)):
        at = profile["frames"].index(frame)
        own = sum(s["samples"] for s in profile["stacks"] if s["frames"][-1] == at)
        total = sum(s["samples"] for s in profile["stacks"] if at in s["frames"])
        for heading, wanted in {
            "module": profile["modules"][frame["module"]], "function": frame["function"], "kernel": frame["kernel"],
            "self samples": own, "total samples": total,
        }.items():
            check(heading, row[heading], wanted)
        check("total", row["total (s)"], total / profile["hz"], 1e-12)


def check_records(book, run):
    found = rows(book, "Settings")
    expected = [(c["label"], n, v) for c in run["configurations"] for n, v in c["settings"].items()]
    assert len(found) == len(expected), f"Settings: {len(found)} rows, not {len(expected)}"
    for row, (label, name, value) in zip(found, expected):
        check("configuration", row["configuration"], label)
        check("setting", row["setting"], name)
        check(name, row["value"], json.dumps(value) if isinstance(value, (list, dict)) else value)
        others = [json.dumps(c["settings"].get(name)) for c in run["configurations"]]
        check("varies", row["varies"], len(set(others)) > 1)
    facts = {(row["environment"], row["fact"]): row["value"] for row in rows(book, "Environment")}
    for name in ("name", "question", "seed", "response"):
        check(name, facts[None, name], run["run"][name])
    for number, environment in enumerate(run["environments"], 1):
        for name, value in environment.items():
            if not isinstance(value, (list, dict)):
                check(name, facts[number, name], value)
        for at, volume in enumerate(environment["volumes"], 1):
            for name, value in volume.items():
                check(name, facts[number, f"volumes.{at}.{name}"], value)
    lines = [row["experiment file"] or "" for row in rows(book, "Experiment")]
    wanted = [written(line) or "" for line in run["run"]["source"].split("\n")]
    wanted = wanted[:-1] if wanted[-1] == "" else wanted
    if [unescaped(line) for line in lines] != wanted:
        wrong.append(f"Experiment: {lines} is not {wanted}")


def available(response):
    """Whether ten values of the trial or more lie beyond a percentile: the rule for all that summarises trials."""
    of = response.get("percentile")
    return of is None or of["values"] * min(of["percent"], 100 - of["percent"]) / 100 > 10 - 1e-6


def check_configurations(book, run, summary):
    """Computed again from the trials; intervals as the summary has them."""
    for row in rows(book, "Configurations"):
        index = next(i for i, c in enumerate(run["configurations"]) if written(c["label"]) == row["configuration"])
        own = {t["block"]: t["observations"] for t in run["trials"]
               if t["configuration"] == index and t["status"]["status"] == "done"}
        values = [r["value"] for o in own.values() for r in o["responses"]
                  if written(r["name"]) == row["response"] and available(r)]
        if not values and row["response"] == "throughput":
            # Every trial has it, recorded or not.
            values = [o["work"]["amount"] / o["elapsed_s"] for o in own.values()]
        check("n", row["n"], len(values))
        if values:
            mean, several = statistics.fmean(values), len(values) > 1
            check("mean", row["mean"], mean, 1e-9)
            check("median", row["median"], statistics.median(values), 1e-12)
            check("smallest", row["smallest"], min(values))
            check("largest", row["largest"], max(values))
            # Of equal values there is only rounding.
            if several and statistics.stdev(values) > 1e-9 * mean:
                check("sd", row["standard deviation"], statistics.stdev(values), 1e-6)
                check("CV", row["CV"], statistics.stdev(values) / mean, 1e-6)
        if row["response"] == written(summary["overview"]["response"]["name"]):
            of = summary["configurations"][index]
            check_estimate(row, of["response"], "low (95 %)", "high (95 %)", "mean")
            factor = of["factor"] or {}
            check("against baseline", row["against baseline"], factor.get("value"))
            check("adjusted p", row["adjusted p"], factor.get("adjusted_p"))


def check_estimate(row, estimate, low, high, mean):
    interval = (estimate or {}).get("interval") or {}
    check(mean, row[mean], (estimate or {}).get("mean"))
    check(low, row[low], interval.get("low"))
    check(high, row[high], interval.get("high"))


def check_summary(book, summary):
    said = [(f["kind"], f["text"], f["evidence"]) for f in summary["findings"]]
    found = rows(book, "Verdict")
    for row, (kind, text, evidence) in zip(found, said, strict=False):
        check("kind", row["kind"], kind)
        check("finding", row["finding"], text)
        check("evidence", row["evidence"], evidence)
    assert len(found) == len(said) + len(summary["failures"]), "Verdict: not every finding"
    check("name", book["Verdict"]["A1"].value, summary["overview"]["run"]["name"])
    drawn = [row for row in rows(book, "Response")]
    means = [value for row in drawn for heading, value in row.items() if ": mean (" in heading and value is not None]
    wanted = [c["response"]["mean"] for c in summary["configurations"] if c["response"]]
    assert len(means) == len(wanted), f"Response: {len(means)} means, not {len(wanted)}"
    for mean, one in zip(sorted(means), sorted(wanted)):
        check("mean drawn", mean, one)
    measured = [c for c in summary["configurations"] if c["accounting"]]
    for row, configuration in zip(rows(book, "Profile"), measured, strict=True):
        accounting = configuration["accounting"]
        check("configuration", row["configuration"], configuration["label"] or "all trials")
        check("CPU", row["CPU (s)"], accounting["cpu_s"])
        for name, seconds in accounting["resource_s"]:
            check(name, row[f"{name} wait (s)"], seconds)
        check("run queue", row["run queue (s)"], accounting["signal_s"])
        check("unaccounted", row["unaccounted (s)"], accounting["unaccounted_s"])
        shares = [v for h, v in row.items() if f"{h} (s)" in row and h != "sessions"]
        if accounting["session_s"]:
            check("all shares", math.fsum(shares), 1, 1e-9)


def check_report(book, summary):
    """The report on one sheet: its sentences, and its figures as numbers with their intervals beside them."""
    sheet = book["Report"]
    for row in sheet.iter_rows():
        for cell in row:
            assert cell.data_type != "f", f"Report!{cell.coordinate} is a formula: {cell.value}"
            if isinstance(cell.value, str) and cell.value[:1] in "=+-@" and cell.value:
                assert cell.quotePrefix, f"Report!{cell.coordinate} becomes a formula when it is edited"
    texts = {unescaped(cell.value) for row in sheet.iter_rows() for cell in row if isinstance(cell.value, str)}
    check("report", unescaped(sheet["A1"].value), summary["overview"]["run"]["name"])
    for finding in summary["findings"]:
        check("finding", written(finding["text"]) in texts, True)
    assert len(sheet.tables) > 1, f"Report: {len(sheet.tables)} tables"
    estimates = set()
    for table in sheet.tables.values():
        assert table.autoFilter is not None, f"Report: {table.ref} has no filter"
        headings = [column.name for column in table.tableColumns]
        assert len({heading.lower() for heading in headings}) == len(headings), f"Report: a heading twice: {headings}"
        first, *found = [[cell.value for cell in cells] for cells in sheet[table.ref]]
        assert first == headings, f"Report: headings are not the table's: {first}"
        for row in found:
            for at in range(len(row) - 2):
                if headings[at + 1].endswith(": low") and headings[at + 2].endswith(": high"):
                    # A number without a point is read as an integer, which has more digits than the sheet's numbers.
                    estimates.add(tuple(float(cell) if isinstance(cell, int) else cell for cell in row[at : at + 3]))
    for configuration in summary["configurations"]:
        response = configuration["response"]
        if response and response["interval"]:
            wanted = (response["mean"], response["interval"]["low"], response["interval"]["high"])
            check("estimate", wanted in estimates, True)


def check_charts(book, summary):
    (response,), (profile,) = book["Response"]._charts, book["Profile"]._charts
    assert all(series.errBars for series in response.series), "no error bars"
    assert profile.grouping == "stacked", profile.grouping
    for chart in (response, profile):
        for series in chart.series:
            for reference in (series.val.numRef.f, series.cat.strRef.f if series.cat.strRef else series.cat.numRef.f):
                name, cells = reference.rsplit("!", 1)
                found = book[name.strip("'")][cells.replace("$", "")]
                assert any(cell.value is not None for (cell,) in found), f"{reference} is empty"


def main(workbook, recording, shown):
    run, summary = json.load(open(recording)), json.load(open(shown))
    book = load_workbook(workbook)
    assert book.sheetnames == SHEETS, book.sheetnames
    begin = trials(book, run)
    check_trials(begin, run)
    check_waits(begin, run)
    check_latency(begin, run)
    check_statements(begin, run)
    check_operations(begin, run)
    check_series(begin, run)
    check_devices(begin, run)
    check_functions(begin, run)
    check_records(book, run)
    check_configurations(book, run, summary)
    check_summary(book, summary)
    check_report(book, summary)
    check_charts(book, summary)
    print("\n".join(wrong[:40]) if wrong else f"held {held} cells")
    sys.exit(1 if wrong else 0)


main(*sys.argv[1:])
