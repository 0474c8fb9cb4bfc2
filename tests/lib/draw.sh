#!/bin/bash
# draw.sh ARCHIVE SVG: ViTE's picture of the archive. Ends with 77 and a reason where there is no ViTE
# that could: version 1.4, which Debian 13 has, hangs without an archive and on most short ones, whoever wrote
# them, waiting for an event loop that has ended before.
export QT_QPA_PLATFORM=offscreen
command -v vite >/dev/null || { echo "ViTE is not installed"; exit 77; }
version=$(vite -v 2>/dev/null </dev/null | grep -o 'ViTE 1\.4[.0-9]*')
timeout "$([ -n "$version" ] && echo 15 || echo 60)" vite -e "$2" "$1" </dev/null
status=$?
[ -n "$version" ] && [ "$status" -eq 124 ] && { echo "$version hangs"; exit 77; }
exit "$status"
