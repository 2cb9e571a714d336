"""Fills a recorded run: every configuration in so many blocks gets a copy of its first trial, with four histograms and
responses that vary. `multiply.py RESULTS BLOCKS`"""

import random
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
random.seed(1)


def insert(table, row):
    columns, places = ", ".join(row), ", ".join("?" * len(row))
    db.execute(f"INSERT INTO {table} ({columns}) VALUES ({places})", tuple(row.values()))


def rows(sql):
    return [dict(row) for row in db.execute(sql).fetchall()]


trial = rows("SELECT * FROM trials WHERE status = 'done' ORDER BY id LIMIT 1")[0]
parts = {}
for table in rows("SELECT name FROM sqlite_schema WHERE type = 'table'"):
    if any(column["name"] == "trial" for column in rows(f"PRAGMA table_info({table['name']})")):
        parts[table["name"]] = rows(f"SELECT * FROM {table['name']} WHERE trial = {trial['id']}")
        db.execute(f"DELETE FROM {table['name']}")
db.execute("DELETE FROM trials")
names = ["transaction", "service", "read", "write"]
latency = parts["latencies"][0]
parts["latencies"] = [latency | {"position": at, "name": name} for at, name in enumerate(names)]
number = 0
for block in range(1, int(sys.argv[2]) + 1):
    for configuration in rows("SELECT id, position FROM configurations ORDER BY position"):
        number += 1
        factor = random.lognormvariate(0, 0.05) * (1 + 0.3 * (configuration["position"] % 7))
        place = {"id": number, "configuration": configuration["id"], "block": block, "sequence": number}
        insert("trials", trial | place | {"elapsed_s": trial["elapsed_s"] * factor})
        for table, own in parts.items():
            for row in own:
                value = {"value": row["value"] * factor} if table == "responses" else {}
                insert(table, row | {"trial": number} | value)
db.commit()
