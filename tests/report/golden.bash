# Shared by the scripts whose command reads hand-written archives and prints the contents of a
# golden file. Sourced after sh.sh; $COMMAND is the subcommand, $GOLDEN the folder of golden files.
# If golden_update is set, rewrites them.
# shellcheck shell=bash

GOLDEN=$ROOT/tests/$COMMAND/golden

# fixtures PROGRAM...: compiles the archive writers, tests/PROGRAM.c, into the working directory
fixtures() {
    local program
    for program in "$@"; do
        "${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -I"$ROOT/shim" -I"$ROOT/tests" \
            "$ROOT/tests/$program.c" -o "${program#*/}" -lotf2 || {
            echo "not ok - the fixtures' writer compiles"
            exit 1
        }
    done
}

# golden NAME ARGUMENT...: the output equals the golden file, with nothing on stderr. JSON has a line
# for each row there.
golden() {
    local name=$1
    shift
    "$STAGGER" "$COMMAND" "$@" >"$name" 2>"$name.err" || { cat "$name.err"; return 1; }
    [[ $name != *.json ]] || sed -i -z 's/\n   \+/ /g; s/\n  \([]}]\)/ \1/g' "$name"
    [ -n "$golden_update" ] && cp "$name" "$GOLDEN/$name"
    empty "$name.err" && same "$GOLDEN/$name" "$name"
}

# refused STATUS REGEX ARGUMENT...: that exit status, one matching line, nothing on stdout.
refused() {
    local expected=$1 regex=$2
    shift 2
    "$STAGGER" "$COMMAND" "$@" >refused.out 2>refused.err
    is "$expected" $? && empty refused.out && has refused.err "$regex" &&
        is 1 "$(grep -c '^stagger' refused.err)"
}
