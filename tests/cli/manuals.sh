#!/bin/bash
# The manual pages and the programs agree in both directions, and the pages are well formed.
. "$(dirname "$0")/../lib/sh.sh"

manuals() { "$PYTHON" "$ROOT/tests/cli/manuals.py" "$1" "$STAGGER" "$BUILD/stagger-bench" "$ROOT/docs"; }

check "every command has a page, and every page a command" manuals commands
check "every option of --help is in its page, and the page has no other" manuals options
settings() {
    is "$("$BUILD/tests/cli/settings_page")" \
        "$(sed -n '/^\.\\" BEGIN settings/,/^\.\\" END settings/{//!p}' "$ROOT/docs/libstagger.7")"
}
check "the settings in libstagger(7) are those that make manual writes" settings
check "every algorithm with its parameters is in libstagger(7), and no other is" manuals algorithms
check "every column is in stagger-report(1), and no other is" manuals columns

sound() {
    local page
    for page in "$ROOT"/docs/*.[1-8]; do
        mandoc -T lint -W warning "$page" || return 1
        is "" "$(MANWIDTH=80 man --warnings -l "$page" 2>&1 >/dev/null)" || return 1
    done
}
if command -v mandoc >/dev/null && command -v man >/dev/null; then
    check "the pages have no fault that mandoc or groff knows of" sound
else
    skip "the pages have no fault that mandoc or groff knows of" "mandoc or man is not installed"
fi

# Prints a page's cross-references.
referred() {
    local name missing=
    for name in $(sed -n 's/\\-/-/g; s/.*\<\(\(lib\)\?stagger[a-z-]*\) (\([17]\)).*/\1.\3/p' "$ROOT"/docs/*.[17] |
        LC_ALL=C sort -u); do
        [ -e "$ROOT/docs/$name" ] || missing+=" $name"
    done
    is "" "$missing"
}
check "pages refer only to existing pages" referred
