"""A data set of DuckDB's generators, and the figures of its columns."""

import glob
import importlib
import os

import duckdb


def made(extension: str, call: str) -> duckdb.DuckDBPyConnection:
    """A database with the tables that a generator of the extension `tpch` or `tpcds` has made."""
    folder = os.path.dirname(importlib.import_module(f"duckdb_extension_{extension}").__file__)
    file = glob.glob(f"{folder}/extensions/v{duckdb.__version__}/{extension}.duckdb_extension")[0]
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{file}'")
    connection.execute(f"CALL {call}")
    return connection


def print_sums(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """A line for each column: table, column, values that are not NULL, and a sum: of whole numbers, of decimals in
    hundredths, of days since 1970-01-01, or of texts the sum of their lengths, followed by the sum of the codes of their
    first letters."""
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
