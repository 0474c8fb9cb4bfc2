#!/bin/bash
# check_tools.sh ARCHIVE...: standard tools can read each archive: otf2-print without a complaint,
# ViTE with a drawing of states (for an unreadable archive it draws only the background, and reports
# no error).
set -u
[ $# -gt 0 ] || { echo "usage: check_tools.sh ARCHIVE..." >&2; exit 2; }
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
no_vite=

verdict() { # verdict STATUS SENTENCE [FILE]
    if [ "$1" -eq 0 ]; then
        echo "ok - $2"
    else
        echo "not ok - $2"
        [ $# -lt 3 ] || sed 's/^/#   /' "$3"
        failed=1
    fi
}

# Counts rectangles right of the location names (160 of 800 points), where ViTE draws the states.
states() { sed -n 's/.*<rect *x="\([0-9]*\).*/\1/p' "$1" | awk '$1 >= 160' | wc -l; }

for archive in "$@"; do
    otf2-print -Werror --silent "$archive" >"$scratch/print" 2>&1 && [ -s "$archive" ]
    verdict $? "otf2-print reads $archive" "$scratch/print"
    [ -z "$no_vite" ] || continue
    rm -f "$scratch/out.svg"
    "${0%/*}/draw.sh" "$archive" "$scratch/out.svg" >"$scratch/vite" 2>&1
    case $? in
    77) no_vite="$(tail -n 1 "$scratch/vite")" ;;
    0) [ "$(states "$scratch/out.svg")" -gt 0 ]; verdict $? "ViTE draws $archive" "$scratch/vite" ;;
    *) verdict 1 "ViTE draws $archive" "$scratch/vite" ;;
    esac
done
[ -z "$no_vite" ] || echo "skip - ViTE draws these archives: $no_vite"
exit $failed
