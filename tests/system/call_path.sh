#!/bin/bash
# The files that a call visits, as docs/architecture.md lists them: they exist, and each is called
# by one before it.
. "$(dirname "$0")/../lib/sh.sh"

PAGE=$ROOT/docs/architecture.md

path() { "$PYTHON" "$ROOT/tests/system/call_path.py" "$1"; }

# complains PAGE REGEX: the page's list is rejected, with this reason.
complains() {
    path "$1" >complaints.out && { echo "nothing is wrong with $1"; return 1; }
    has complaints.out "$2"
}

# swapped PATTERN PATTERN: the page with the two matching lines of a list exchanged
swapped() {
    awk -v one="$1" -v other="$2" '
        { lines[NR] = $0 }
        !first && $0 ~ one { first = NR }
        first && !second && $0 ~ other { second = NR }
        END {
            line = lines[first]; lines[first] = lines[second]; lines[second] = line
            for (i = 1; i <= NR; i++) print lines[i]
        }' "$PAGE"
}

check "the files of a call are those in docs/architecture.md, in their order" path "$PAGE"

swapped '^1[.] `' '^2[.] `' >swapped.md
check "a list with its first two files swapped is wrong" \
    complains swapped.md 'no file before it in the list calls a function of it'
sed '0,/^5[.] `[^`]*`/s//5. `shim\/intercept\/nowhere.c`/' "$PAGE" >absent.md
check "a list with a file that does not exist is wrong" complains absent.md 'nowhere.c: there is no such file'
awk '/^4[.] `/ && !done { print; done = 1 } { print }' "$PAGE" >twice.md
check "a list with a file twice is wrong" complains twice.md 'is in the list twice'
