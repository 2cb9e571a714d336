"""What DuckDB's dsdgen makes of dimensions of TPC-DS at scale factor 1, as figures that any other generator must have.

    pip install duckdb==1.5.5 duckdb-extension-tpcds
    python dsdgen_reference.py > dsdgen_reference.tsv

The lines of column_sums.py.
"""

from column_sums import made, print_sums

TABLES = """customer customer_address date_dim household_demographics income_band item promotion ship_mode store time_dim
warehouse web_page""".split()

connection = made("tpcds", "dsdgen(sf = 1)")

for table in TABLES:
    print_sums(connection, table)
