#!/bin/sh
# Compares what two builds of the program say of the same recordings, for `cargo xtask compare OLD
# NEW FILE...`, which sets $TARGET (the target folder). A change that must not change what users see
# is checked by this: both programs show, report and export the same results files, and every output
# that differs is named.
set -eu
[ $# -ge 3 ] || { echo "usage: cargo xtask compare OLD NEW FILE..." >&2 && exit 1; }
# One width, no colours.
export COLUMNS=100 NO_COLOR=1
old=$(realpath "$1") new=$(realpath "$2")
shift 2
folder=$TARGET/compare differing=0
rm -rf "$folder"

# Writes all outputs of a program on a copy of a results file, which it may bring up to date.
write() (
    mkdir -p "$2/results"
    cp "$3" "$2/results/r.steelbench"
    cd "$2"
    "$1" show r > screen
    "$1" show r --full > show
    "$1" show r --json > show.json
    "$1" show r --md > show.md
    "$1" report r --output report.html > report.txt
    for format in csv json parquet xlsx; do
        "$1" export r --format $format --output export.$format > export.txt
    done
    # A workbook as the folder of its sheets, a line for each cell.
    python3 - <<END
import pathlib, zipfile
book = zipfile.ZipFile("export.xlsx")
for name in book.namelist():
    if name != "docProps/core.xml":
        to = pathlib.Path("xlsx", name)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(book.read(name).replace(b"><", b">\n<"))
END
    rm export.xlsx report.txt export.txt
)

for file in "$@"; do
    name=$(basename "$file" .steelbench)
    write "$old" "$folder/$name/old" "$file"
    write "$new" "$folder/$name/new" "$file"
    for view in screen show show.json show.md report.html export.csv export.json export.parquet xlsx; do
        text=same
        diff --recursive --new-file --text --unified=0 "$folder/$name/old/$view" \
            "$folder/$name/new/$view" > "$folder/$name/$view.diff" || {
            lines=$(grep -a '^[+-]' "$folder/$name/$view.diff" | grep -acv '^+++\|^---') || true
            text="$lines lines differ" differing=$((differing + 1))
        }
        printf '%-32s %-14s %s\n' "$name" "$view" "$text"
    done
done
[ $differing = 0 ] || { echo "$differing outputs differ; see the .diff files in $folder" >&2 && exit 1; }
