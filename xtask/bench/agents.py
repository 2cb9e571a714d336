"""Messages and bytes a second through the broker of load generators, its CPU time, and the start skew,
with 2 to 16 agents in other processes."""

import json
import os
import pathlib
import sqlite3
import subprocess
import time
from urllib.request import urlopen

AGENTS, EXTRAPOLATED = (2, 4, 8, 16), 100
COLUMNS = "messages/s in", "messages/s out", "kB/s in", "kB/s out", "% of a core"
folder = pathlib.Path("agents").absolute()
folder.mkdir(exist_ok=True)
for ports in folder.glob("*.ports"):
    ports.unlink()
token = folder / "token"
token.write_text("a-token-of-the-measurements")
token.chmod(0o600)
(folder / "config").write_text(f"""listen: "127.0.0.1:-1"
http: "127.0.0.1:-1"
authorization {{ token: "{token.read_text()}" }}
jetstream {{ store_dir: "{folder}/store" }}
ports_file_dir: "{folder}"
""")
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
broker = subprocess.Popen(["nats-server", "-c", folder / "config"], **quiet)


def ports():
    file = folder / f"nats-server_{broker.pid}.ports"
    for _ in range(750):
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError):
            time.sleep(0.02)
    raise SystemExit("nats-server does not start")


def counted():
    varz = json.load(urlopen(monitoring + "/varz"))
    fields = pathlib.Path(f"/proc/{broker.pid}/stat").read_text().rsplit(")", 1)[1].split()
    cpu_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return (time.monotonic(), varz["in_msgs"], varz["out_msgs"], varz["in_bytes"] / 1e3,
            varz["out_bytes"] / 1e3, 100 * cpu_s)


def measure(count):
    access = ["--broker", url, "--token-file", token]
    agents = [subprocess.Popen(["steelbench", "agent", *access, "--name", f"agent-{number}"], **quiet)
              for number in range(count)]
    try:
        name = f"bench-agents-{count}"
        text = pathlib.Path(os.environ["BENCH"], "ours/agents.toml").read_text()
        pathlib.Path(f"{name}.toml").write_text(text.replace("$count", str(count)))
        before = counted()
        subprocess.run(["steelbench", "run", f"{name}.toml", "--fresh", "--agents", str(count), *access],
                       check=True, stdout=subprocess.DEVNULL)
        after = counted()
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()
    rows = sqlite3.connect(f"results/{name}.steelbench").execute(
        "SELECT value FROM facts WHERE name = 'generator_start_skew'")
    skews = [value for value, in rows]
    rates = [(b - a) / (after[0] - before[0]) for a, b in zip(before[1:], after[1:])]
    show(f"{count} agents", rates, f", start skew {min(skews):.3f} to {max(skews):.3f} ms in {len(skews)} trials")
    return rates


def show(what, rates, rest=""):
    print(f"{what}:", ", ".join(f"{rate:.2f} {column}" for rate, column in zip(rates, COLUMNS)) + rest, flush=True)


def on_a_line(values):
    """The value at EXTRAPOLATED of the least-squares line."""
    x, y = sum(AGENTS) / len(AGENTS), sum(values) / len(values)
    slope = sum((a - x) * (b - y) for a, b in zip(AGENTS, values)) / sum((a - x) ** 2 for a in AGENTS)
    return y + slope * (EXTRAPOLATED - x)


try:
    found = ports()
    url, monitoring = found["nats"][0], found["monitoring"][0]
    print("16 connections, 3 trials of about 10 s; rates are of the whole run")
    columns = zip(*[measure(count) for count in AGENTS])
    show(f"{EXTRAPOLATED} agents, extrapolated by a straight line and not measured", map(on_a_line, columns))
finally:
    broker.kill()
    broker.wait()
