"""Runs statements in DuckDB: prints the seconds of all but the first, or, of a scan, milliseconds
of each of nine by its profile."""

import json
import sys
import time

import duckdb

connection = duckdb.connect("peer.duckdb")
connection.execute("SET enable_progress_bar = false")
first, *rest = sys.argv[1:]
if first == "scan":
    connection.execute("PRAGMA enable_profiling = 'json'")
    connection.execute("PRAGMA profiling_output = 'profile.json'")
    for _ in range(9):
        connection.execute(rest[0]).fetchall()
        print(1e3 * json.load(open("profile.json"))["latency"])
else:
    connection.execute(first)
    start = time.perf_counter()
    for statement in rest:
        connection.execute(statement)
    print("elapsed", time.perf_counter() - start)
