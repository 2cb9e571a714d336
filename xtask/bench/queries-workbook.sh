#!/bin/sh
# Opens the workbook of bench-queries-whole by other programs: rows of each sheet.
set -eu
ls -l queries.html queries.xlsx
python3 -c "
import openpyxl
for sheet in openpyxl.load_workbook('queries.xlsx', read_only=True):
    print(sheet.title, sum(1 for row in sheet.iter_rows()) - 1)" | sed 's/^/openpyxl: /'
if ! command -v soffice > /dev/null; then
    echo "SKIPPED: LibreOffice is not installed"
    exit
fi
rm -rf sheets
# One file for each sheet.
soffice --headless --outdir sheets --convert-to \
    "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1" queries.xlsx
python3 -c "
import csv, glob
for name in sorted(glob.glob('sheets/*.csv')):
    print(name, sum(1 for row in csv.reader(open(name, newline=''))) - 1)" | sed 's/^/LibreOffice: /'
