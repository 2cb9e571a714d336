#!/bin/sh
# Writes an experiment of this folder, in whose text $NAME is a variable of the environment; prints
# the name of the file. template.sh FILE
set -eu
SEED=$(printf %.9s "${STEELBENCH_SEED:-1}")
written=$(basename "$1")
eval "cat <<END
$(cat "$BENCH/$1")
END
" > "$written"
echo "$written"
