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
    'pasted odd.err "see: stagger report" >odd.txt' 'has odd.txt "allreduce .*calls"'
cp -r "$odd" "$odd 2"
STAGGER_DIR="$WORK/$odd 3" mpirun_stagger 2 "$PROGRAMS/ending" kill 20 >ended.out 2>ended.err
"$STAGGER" report "$odd 3" >/dev/null 2>report.err
check "report's words for a run that was killed make its archive" all \
    'pasted report.err "make it with: stagger recover" >recover.txt' \
    'archive_sound "$WORK/$odd 3"'

long=$(printf '%0248d' 0)ä
cp "$PROGRAMS/calls" "$long" && mkdir here
(cd here && mpirun_stagger 2 "$WORK/$long" 20 >../long.out 2>../long.err)
check "a program's name may be as long as names are" all \
    'has_lines long.err "^stagger: " 2' 'archive_agrees here/stagger-000* long.out'

check "recover of a run that ended well says that there is nothing to do" all \
    '"$STAGGER" recover "$odd 2" >whole.out 2>whole.err' 'empty whole.err' \
    'has whole.out "traces.otf2: the archive is already complete$"'

# Checks the short form of --help of every command.
for command in '' run report compare advise export recover info sim arrivals bench-merge; do
    check "-h shows what --help does (stagger $command)" all \
        "'$STAGGER' $command -h >short.txt" "'$STAGGER' $command --help >long.txt" \
        'same short.txt long.txt'
done
check "-h shows what --help does (stagger-bench)" all "'$BUILD/stagger-bench' -h >short.txt" \
    "'$BUILD/stagger-bench' --help >long.txt" 'same short.txt long.txt'

mkdir nothing
for command in report arrivals; do
    "$STAGGER" "$command" nothing >/dev/null 2>none.err
    check "$command on nothing says what is not there, in a line of ours" \
        is "stagger: nothing: contains neither traces.otf2 nor rank-*.log" "$(cat none.err)"
done
