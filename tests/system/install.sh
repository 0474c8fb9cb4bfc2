#!/bin/bash
# make install: the command finds the library where it is put, and uninstall leaves nothing.
. "$(dirname "$0")/../lib/sh.sh"

prefix=$WORK/prefix
check "make install" make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX="$prefix" install
check "the installed command runs a program under the installed library" all \
    '"$prefix/bin/stagger" run -o run.trace -- timeout 60 "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 \
         >run.out 2>run.err </dev/null' \
    'archive_agrees run.trace run.out'
check "its version is the project's" has <("$prefix/bin/stagger" --version) \
    "$(sed 's/\./\\./g' "$ROOT/VERSION")"
check "make uninstall" make -C "$ROOT" --no-print-directory PREFIX="$prefix" uninstall
check "nothing is left" is "" "$(find "$prefix" -type f)"
check "make help lists the targets" all 'make -C "$ROOT" --no-print-directory help >help.out' \
    'for target in deps all check demo install format lint clean bench; do
         has help.out "make $target " || return 1; done'
