#!/bin/bash
# Renames the tree in the working directory to the field's names. Can be run on any state of the
# tree; what of its tables it does not find is printed. Nothing is committed.
#   rename.sh [--no-compile]     --no-compile: leaves out the fields, which the compiler finds
tables=$(dirname "$(readlink -f "$0")")
[ -d shim ] && [ -d .git ] || { echo "run it in the root of a clone" >&2; exit 1; }
exec python3 "$tables/rename.py" "$tables" "$@"
