#!/bin/bash
# Completion in bash and zsh offers exactly the arguments that stagger and stagger-bench accept.
. "$(dirname "$0")/../lib/sh.sh"

prefix=$WORK/prefix
make -C "$ROOT" --no-print-directory B="$BUILD" PREFIX="$prefix" install >install.out 2>&1 ||
    { cat install.out; exit 1; }
PATH=$prefix/bin:$PATH
mkdir -p here/run-1 here/run-2 && touch here/notes.txt
cd here || exit 1

# ---- candidates --------------------------------------------------------------------------------------

# follows WORD...: the candidates for the last word, unordered
follows() { sh "$prefix/share/stagger/complete" "$(type -P "$1")" "${@:2}" | cut -f 1 | LC_ALL=C sort; }
sorted() { printf '%s\n' "$@" | LC_ALL=C sort; }
commands() { sed -n '1,/^commands:/d; s/^  \([a-z][a-z-]*\)  .*/\1/p'; }

check "the completed commands are those of --help" all \
    'is "$(stagger --help | commands | LC_ALL=C sort)" "$(follows stagger "")"' \
    'is "$(stagger sim --help | commands | LC_ALL=C sort)" "$(follows stagger sim "")"' \
    'is "$(sorted latency cpu delay overlap clock noise account)" "$(follows stagger-bench "")"'

# offered COMMAND...: the options are those whose names stand in front of the lines of --help
offered() {
    is "$("$@" --help | sed -n 's/^ \+\(-[^ ].*\)/\1/p' | sed 's/   *.*//' |
        grep -oE -- '(^|[ ,])--?[A-Za-z?][A-Za-z-]*' | tr -d ' ,' | LC_ALL=C sort)" "$(follows "$@" -)"
}
every_command() {
    local command
    for command in $(stagger --help | commands); do
        [ "$command" = sim ] || offered stagger "$command" || return 1
    done
    for command in $(stagger sim --help | commands); do
        offered stagger sim "$command" || return 1
    done
    offered stagger-bench latency
}
check "the completed options of every command are those of --help" every_command

check "arguments complete as files, DIR as directories, and a program to run as a command" all \
    'is :files "$(follows stagger report "")"' \
    'is :files "$(follows stagger watch "")"' 'is "" "$(follows stagger watch a x)"' \
    'is :files "$(follows stagger compare a "")"' \
    'is :files "$(follows stagger bench-merge a b c "")"' \
    'is :files "$(follows stagger compare a b -- "")"' \
    'is "" "$(follows stagger report a x)"' \
    'is :directories "$(follows stagger run --output "")"' \
    'is ":command 4" "$(follows stagger run -o x "")"' \
    'is :files "$(follows stagger run --config "")"' \
    'has <(follows stagger run --trial "") "^barrier="' \
    'is ":command 2" "$(follows stagger run mpiexec -n "")"' \
    'is ":command 3" "$(follows stagger run -- mpi)"'
check "a list completes behind its comma, without the names it already has" \
    is "$(sorted barrier,{allreduce,reduce,bcast,gather,scatter,allgather,alltoall,reduce_scatter,scan})" "$(follows stagger-bench delay -o barrier,)"

# ---- values: every offered one is accepted -------------------------------------------------------------

taken() {
    local offer=$1 value
    shift
    for value in $(follows $offer ""); do
        "$@" "$value" >taken.out 2>&1 || { cat taken.out; echo "of $* $value"; return 1; }
        echo "$value" >>"$WORK/values"
    done
    [ -n "$value" ] || { echo "nothing follows $offer"; return 1; }
}
sim_takes() { stagger sim "$@" --nodes 2 --iterations 1; }
mode() { sim_takes cpu --elements 4 --skew-us 0 --mode "$1"; }
algo() { sim_takes delay --op "${op:-barrier}" --algo "$1" || op=allreduce sim_takes cpu --elements 4 --skew-us 0 --algo "$1" ||
    sim_takes delay --op allreduce --algo "$1"; }
op() { sim_takes delay --algo tree --op "$1"; }
network() { sim_takes delay --algo tree --network "$1"; }
bcs() { stagger sim bcs -n 2 --steps 1 "$@"; }
explore() { stagger sim explore --seeds 1 "$@"; }
rule() { STAGGER_DIR=$WORK/none stagger run --rule "${1%=}${rule_end:-}" true; }
trace() { stagger run --trace "$1" true; }
field() { has <(stagger compare --sort "$1" /nowhere /nowhere 2>&1) '/nowhere: No such'; }
column() { has <(stagger report --sort "$1" /nowhere 2>&1) '/nowhere: No such'; }
# The benchmark checks its options before it starts MPI.
bench() { # options but for a rank that there is not, which is the last thing looked at
    has <(timeout "$PROGRAM_SECONDS" stagger-bench "$@" --root 99 2>&1) 'bench: --root wants'
}
list_op() { bench latency --ops "$1"; }
scheme() { bench latency --scheme "$1"; }
way() { bench latency --reduce "$1"; }
pattern() { case "$1" in some:) bench latency --arrival some:1 ;; trace:) ;; *) bench latency --arrival "$1" ;; esac; }
named() { bench latency --algorithms "$1" || bench latency -o barrier,reduce,allreduce --algorithms "$1"; }

check "stagger run completes the modes of recording and the rules" all \
    'taken "stagger run --trace" trace' \
    'rule_end==srm taken "stagger run --rule" rule' \
    'for value in $(follows stagger run --rule barrier=); do
         case "$value" in *=bypass | *=pairwise) ;; *) rule "$value" || return 1 ;; esac; done'
check "stagger report completes the columns" taken "stagger report --sort" column
check "stagger compare completes the fields" taken "stagger compare --sort" field
check "stagger sim bcs completes the values of its options" all \
    'taken "stagger sim bcs --strobe" bcs --strobe' 'taken "stagger sim bcs --pattern" bcs --pattern' \
    'taken "stagger sim bcs --engine" bcs --pattern barrier --engine'
check "stagger sim completes algorithms, modes, networks, operations and faults" all \
    'taken "stagger sim cpu --mode" mode' \
    'taken "stagger sim delay --op" op' \
    'taken "stagger sim delay --network" network' \
    'taken "stagger sim delay --algo" algo' \
    'taken "stagger sim explore --faults" explore --faults' \
    'taken "stagger sim explore --algo" explore --algo'
check "every algorithm between nodes is offered, except auto" is \
    "$(stagger info | sed -n '/^algorithms/,/^$/s/^  \([a-z][a-z]*\)  .*between nodes$/\1/p' |
        grep -v "^auto$" | LC_ALL=C sort)" \
    "$(follows stagger sim cpu --algo "")"
check "stagger-bench completes operations, schemes, ways, patterns and algorithms" all \
    'taken "stagger-bench latency --ops" list_op' \
    'taken "stagger-bench latency --scheme" scheme' \
    'taken "stagger-bench latency --reduce" way' \
    'taken "stagger-bench latency --arrival" pattern' \
    'taken "stagger-bench latency --algorithms" named'

# ---- in the shells -------------------------------------------------------------------------------------

# in_bash LINE: the line that bash makes of it when Tab is pressed at its end
in_bash() {
    bash --norc -c '
        compopt() { :; }
        . "$1/share/bash-completion/completions/stagger"
        COMP_LINE=$2 COMP_POINT=${#2}
        # bash splits at = and : too
        read -ra COMP_WORDS <<<"$(sed "s/[=:]/ & /g" <<<"$2")"
        [[ $2 == *[\ =:] ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        [ -z "${3-}" ] || . "$3"
        _stagger
        printf "%s\n" "${COMPREPLY[@]}" | LC_ALL=C sort' bash "$prefix" "$@"
}
check "bash completes commands, options, values and files" all \
    'is "$(sorted recover report run)" "$(in_bash "stagger r" | grep ^r)"' \
    'is report "$(in_bash "stagger rep")"' \
    'is --perfetto "$(in_bash "stagger export --p")"' \
    'is otf2 "$(in_bash "stagger run --trace ot")"' \
    'is otf2 "$(in_bash "stagger run --trace=ot")"' \
    'is "$(sorted run-1 run-2)" "$(in_bash "stagger report run")"' \
    'is "$(sorted run-1 run-2)" "$(in_bash "stagger run --output=")"' \
    'is srm "$(in_bash "stagger run --rule barrier=s")"' \
    'is "some:" "$(in_bash "stagger-bench latency --arrival so")"' \
    'is run-1 "$(in_bash "$prefix/bin/stagger report run-1")"'
check "bash completes the name of the program to run" has <(in_bash "stagger run stagger-b") '^stagger-bench$'
bash_completion=/usr/share/bash-completion/bash_completion
if [ -e "$bash_completion" ]; then
    check "bash completes that program's arguments" has <(in_bash "stagger run --trace=off stagger rep" "$bash_completion") '^report$'
else
    skip "bash completes that program's arguments" "bash-completion is not installed"
fi

# in_zsh LINE...: the lines after Tab in zsh, in a terminal of its own
in_zsh() {
    zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        tell() { zpty -w shell "$1"; }
        tell "PS1=; TERM=dumb; unsetopt zle_bracketed_paste; fpath=($1/share/zsh/site-functions \$fpath)"
        tell "autoload -U compinit && compinit -u -d $2/zcompdump; LISTMAX=10000; setopt no_beep"
        tell "show() { print -r -- \"<\$BUFFER>\"; BUFFER= }; zle -N show; bindkey ^X show; print -n rea; print dy"
        zpty -r -m shell seen "*ready*"
        for line in "${@:3}"; do
            zpty -n -w shell "$line"$'"'\t\x18'"'
            zpty -r -m shell seen "*<*>*"
            print -r -- "${${seen##*<}%%>*}"
        done
        zpty -d shell' zsh "$prefix" "$WORK" "$@"
}
if command -v zsh >/dev/null; then
    check "zsh completes commands, options, values and files" same - <(in_zsh "stagger rep" "stagger export --p" \
        "stagger run --trace ot" "stagger run --trace=ot" "stagger report run-1" "stagger-bench la" \
        "stagger run stagger-b" "stagger run stagger rep" | sed 's/$/|/') <<'END'
stagger report |
stagger export --perfetto |
stagger run --trace otf2 |
stagger run --trace=otf2 |
stagger report run-1/|
stagger-bench latency |
stagger run stagger-bench |
stagger run stagger report |
END
else
    skip "zsh completes commands, options, values and files" "zsh is not installed"
fi
