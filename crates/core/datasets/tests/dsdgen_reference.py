"""What DuckDB's dsdgen makes of dimensions of TPC-DS at scale factor 1, as figures that any other generator must have.

    pip install duckdb==1.5.5 duckdb-extension-tpcds
    python dsdgen_reference.py > dsdgen_reference.tsv

A line for each column: table, column, values that are not NULL, and a sum: of whole numbers, of decimals in hundredths,
of days since 1970-01-01, or of texts the sum of their lengths, followed by the sum of the codes of their first letters.
"""

import glob
import os

import duckdb
import duckdb_extension_tpcds

TABLES = """customer customer_address date_dim household_demographics income_band item promotion ship_mode store time_dim
warehouse web_page""".split()

folder = os.path.dirname(duckdb_extension_tpcds.__file__)
extension = glob.glob(f"{folder}/extensions/v{duckdb.__version__}/tpcds.duckdb_extension")[0]
connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
connection.execute(f"LOAD '{extension}'")
connection.execute("CALL dsdgen(sf = 1)")

for table in TABLES:
    for column, data_type, *_ in connection.execute(f"DESCRIBE {table}").fetchall():
        if data_type == "DATE":
            sums = f"sum({column} - DATE '1970-01-01')::BIGINT"
        elif data_type == "VARCHAR":
            sums = f"sum(length({column}))::BIGINT, sum(ascii({column}))::BIGINT"
        elif data_type.startswith("DECIMAL"):
            sums = f"(sum({column}) * 100)::BIGINT"
        else:
            sums = f"sum({column})::BIGINT"
        row = connection.execute(f"SELECT count({column}), {sums} FROM {table}").fetchone()
        print(table, column, *(cell or 0 for cell in row), sep="\t")
