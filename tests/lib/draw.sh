#!/bin/bash
# draw.sh ARCHIVE SVG: draws the archive with ViTE. Exits with 77 and a reason if no ViTE can do it:
# version 1.4, in Debian 13, hangs without an archive and on most short ones, whatever tool wrote
# them, because it waits for an event loop that has already ended.
export QT_QPA_PLATFORM=offscreen
command -v vite >/dev/null || { echo "ViTE is not installed"; exit 77; }
version=$(vite -v 2>/dev/null </dev/null | grep -o 'ViTE 1\.4[.0-9]*')
timeout "$([ -n "$version" ] && echo 15 || echo 60)" vite -e "$2" "$1" </dev/null
status=$?
[ -n "$version" ] && [ "$status" -eq 124 ] && { echo "$version hangs"; exit 77; }
exit "$status"
