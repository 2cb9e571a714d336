"""What DuckDB's dbgen makes of TPC-H at scale factor 0.01, as figures that any other generator must have too.

    pip install duckdb duckdb-extension-tpch
    python dbgen_reference.py > dbgen_reference.tsv

A line for each column: table, column, rows, and a sum: of whole numbers, of decimals in hundredths, of days since
1970-01-01, or of texts the sum of their lengths, followed by the sum of the codes of their first letters. Then the
answers of Q1 and Q6, a line for each row.
"""

import glob
import os

import duckdb
import duckdb_extension_tpch

folder = os.path.dirname(duckdb_extension_tpch.__file__)
extension = glob.glob(f"{folder}/extensions/v{duckdb.__version__}/tpch.duckdb_extension")[0]
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.execute(f"LOAD '{extension}'")
connection.execute("CALL dbgen(sf = 0.01)")

for (table,) in connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY table_name").fetchall():
    for column, data_type, *_ in connection.execute(f"DESCRIBE {table}").fetchall():
        if data_type == "DATE":
            sums = f"sum({column} - DATE '1970-01-01')::BIGINT"
        elif data_type == "VARCHAR":
            sums = f"sum(length({column}))::BIGINT, sum(ascii({column}))::BIGINT"
        elif data_type.startswith("DECIMAL"):
            sums = f"(sum({column}) * 100)::BIGINT"
        else:
            sums = f"sum({column})::BIGINT"
        row = connection.execute(f"SELECT count(*), {sums} FROM {table}").fetchone()
        print(table, column, *row, sep="\t")

for query in (1, 6):
    for row in connection.execute(f"PRAGMA tpch({query})").fetchall():
        print(f"q{query}", *row, sep="\t")
