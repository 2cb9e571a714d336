"""What DuckDB's dbgen makes of TPC-H at scale factor 0.01, as figures that any other generator must have too.

    pip install duckdb duckdb-extension-tpch
    python dbgen_reference.py > dbgen_reference.tsv

The lines of column_sums.py, then the answers of Q1 and Q6, a line for each row.
"""

from column_sums import made, print_sums

connection = made("tpch", "dbgen(sf = 0.01)")

for (table,) in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY table_name").fetchall():
    print_sums(connection, table)

for query in (1, 6):
    for row in connection.execute(f"PRAGMA tpch({query})").fetchall():
        print(f"q{query}", *row, sep="\t")
