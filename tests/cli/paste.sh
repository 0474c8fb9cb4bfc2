#!/bin/bash
# Commands that the library and the tools print for pasting work when pasted; long or odd names do
# no harm.
. "$(dirname "$0")/../lib/sh.sh"

odd="it's a \$run; (1) ä"

# pasted FILE REGEX: runs the command at the end of the matching line, with this build's stagger
pasted() {
    local line
    line=$(grep -E "$2" "$1") || return 1
    PATH=$BUILD:$PATH bash -c "${line##*: }"
}

STAGGER_DIR=$WORK/$odd mpirun_stagger 2 "$PROGRAMS/calls" 20 >odd.out 2>odd.err
check "the last line's command reads an archive in a directory of any name" all \
    'pasted odd.err "see: stagger report" >odd.txt' 'has odd.txt "^calls, 2 ranks"'
cp -r "$odd" "$odd 2"
STAGGER_DIR="$WORK/$odd 3" mpirun_stagger 2 "$PROGRAMS/ending" kill 20 >ended.out 2>ended.err
"$STAGGER" report --all "$odd 3" >/dev/null 2>report.err
check "the report's command for a run that was killed makes its archive" all \
    'pasted report.err "make it with: stagger recover" >recover.txt' \
    'archive_sound "$WORK/$odd 3"'

long=$(printf '%0248d' 0)ä
cp "$PROGRAMS/calls" "$long" && mkdir here
(cd here && mpirun_stagger 2 "$WORK/$long" 20 >../long.out 2>../long.err)
check "a program's name may have the longest file name" all \
    'has_lines long.err "^stagger: " 2' 'archive_agrees here/stagger-000* long.out'

check "recover says that a run that ended well needs nothing" all \
    '"$STAGGER" recover "$odd 2" >whole.out 2>whole.err' 'empty whole.err' \
    'has whole.out "traces.otf2: the archive is already complete$"'

# Checks the short form of --help of every command.
for command in '' run report compare advise export recover info sim arrivals bench-merge; do
    check "-h prints the same as --help (stagger $command)" all \
        "'$STAGGER' $command -h >short.txt" "'$STAGGER' $command --help >long.txt" \
        'same short.txt long.txt'
done
check "-h prints the same as --help (stagger-bench)" all "'$BUILD/stagger-bench' -h >short.txt" \
    "'$BUILD/stagger-bench' --help >long.txt" 'same short.txt long.txt'

mkdir nothing
for command in report arrivals; do
    "$STAGGER" "$command" nothing >/dev/null 2>none.err
    check "$command on a missing path says in one line of ours what is missing" \
        is "stagger: nothing: contains neither traces.otf2 nor rank-*.log" "$(cat none.err)"
done
