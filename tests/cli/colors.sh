#!/bin/bash
# Output is coloured on a terminal, and plain in a pipe, with NO_COLOR, or if the terminal has no
# colours.
. "$(dirname "$0")/../lib/sh.sh"
COMMAND=report
. "$ROOT/tests/report/golden.bash"
command -v script >/dev/null || { skip "a terminal gets colours" "script(1) is not installed"; exit 0; }
fixtures report/make_archive
mkdir known && ./make_archive known known || exit 1
escape=$(printf '\033')

# on_terminal COMMAND-LINE: what it shows on a terminal of 200 columns, in the file "shown"
on_terminal() {
    timeout --kill-after=5 "$PROGRAM_SECONDS" script --quiet --return \
        --command "stty cols 200 && $1" typescript </dev/null >/dev/null
    status=$?
    # script's own lines begin with its name.
    tr -d '\r' <typescript | sed '/^Script /d' | sed '${/^$/d}' >shown
}
bare() { sed "s/$escape\\[[0-9;]*m//g" "$1"; }

"$STAGGER" report --all known >plain.txt
check "a file gets plain text" lacks plain.txt "$escape"
for command in report compare advise; do
    "$STAGGER" "$command" known $([ $command = compare ] && echo known) >pipe.txt
    check "a file gets plain text from $command" lacks pipe.txt "$escape"
done
export TERM=xterm
on_terminal "'$STAGGER' report --all known"
check "on a terminal labels and headings are bold" all 'is 0 "$status"' \
    'has shown "^  $escape\[1mparallel efficiency$escape\[0m +[0-9]+ %"' 'has shown "^$escape\[1m  op .* wait .*$escape\[0m$"'
check "the text is the same" same plain.txt <(bare shown)
on_terminal "'$STAGGER' compare known known"
check "compare prints bold headings, too" has shown "^$escape\[1m  +[a-z].*$escape\[0m$"
NO_COLOR=1 on_terminal "'$STAGGER' report --all known"
check "NO_COLOR turns colours off" same plain.txt shown
NO_COLOR='' on_terminal "'$STAGGER' report --all known"
check "an empty NO_COLOR leaves colours on" has shown "$escape\[1m"
TERM=dumb on_terminal "'$STAGGER' report --all known"
check "a terminal without colours gets none" same plain.txt shown
