#!/bin/bash
# The protocols between nodes do no I/O and keep all of their state in their own structs
# (shim/algos/algo.h, docs/decisions/04). Checks their includes, the calls
# in their objects, and the contents of their states. The reduction kernels are not protocols and
# are not checked.
. "$(dirname "$0")/../lib/sh.sh"
cd "$ROOT" || exit 1

mapfile -t sources < <(find shim/algos shim/bcs -name '*.[ch]' ! -path '*/kernels/*' ! -path '*/live/*' | sort)
mapfile -t objects < <(printf '%s\n' "${sources[@]}" | sed -n "s|\(.*\)\.c$|$BUILD/\1.o|p")

# Prints includes that are neither the project's own parts allowed here nor headers without I/O
# functions (string.h: memcpy and memset).
foreign_includes() {
    grep -HE '^[[:space:]]*#[[:space:]]*include' "$@" |
        grep -Ev 'include[[:space:]]+"(algos|bcs|core)/[a-z0-9_/]+\.h"' |
        grep -Ev 'include[[:space:]]+<(stdbool|stddef|stdint|limits|string)\.h>'
}

# Prints pointers in the states, which begin with struct sg_algo_head, and in the structs inside
# them. Ignores comments.
state_pointers() {
    local file
    for file; do
        gcc -fpreprocessed -dD -E -P "$file" 2>/dev/null
    done | awk '
        /^struct [a-z_0-9]+ *\{/ { name = $2; sub(/\{/, "", name); next }
        /^\}/ { name = "" }
        name && /\*/ { pointers[name] = pointers[name] "struct " name ":" $0 "\n" }
        name && /sg_algo_head head/ { states[++count] = name }
        name && match($0, /struct [a-z_0-9]+ /) {
            member = substr($0, RSTART + 7, RLENGTH - 8)
            members[name] = members[name] " " member
        }
        END {
            for (at = 1; at <= count; at++) {
                if (seen[states[at]]++)
                    continue
                printf "%s", pointers[states[at]]
                found = split(members[states[at]], names, " ")
                for (i = 1; i <= found; i++)
                    states[++count] = names[i]
            }
            if (count == 0)
                print "no state was found"
        }' | tr -s ' '
}

# The undefined symbols of all these objects together, and the variables that could hold state.
ld -r -o "$WORK/protocols.o" "${objects[@]}" || exit 1
undefined() { nm -u "$WORK/protocols.o" | awk '{ print $2 }'; }
variables() {
    readelf -SW "$1" | sed 's/^ *\[ *[0-9]*\]//' |
        awk '$1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /^\.data\.rel\.ro/ && $5 != "000000" {
            print $1, $5
        }'
}

check "protocols include algos, core and headers without I/O only" \
    is "" "$(foreign_includes "${sources[@]}")"

check "no protocol's state holds a pointer" is "" "$(state_pointers "${sources[@]}")"
printf '%s\n' 'struct part {' '    int *c;' '};' 'struct state {' '    struct sg_algo_head head; /* *b */' \
    '    struct part parts[2];' '};' >"$WORK/sample.c"
check "... the check finds a state with a pointer" is "struct part: int *c;" "$(state_pointers "$WORK/sample.c")"

# __popcountdi2 is the compiler's arithmetic.
allowed='mem(cpy|move|set|cmp)|__popcountdi2|_GLOBAL_OFFSET_TABLE_'
if undefined | grep -Eq '^_*(asan|ubsan|tsan|gcov|llvm_prof)'; then
    skip "protocols call nothing but memcpy and the like" "built with sanitizers or coverage"
else
    check "protocols call nothing but memcpy and the like" \
        is "" "$(undefined | grep -Evx "$allowed")"
    check "protocols have no variables besides their states" is "" "$(variables "$WORK/protocols.o")"
    printf 'int kept = 1;\nstatic int hidden;\nint *where(void) { return &hidden; }\n' >"$WORK/kept.c"
    gcc -c "$WORK/kept.c" -o "$WORK/kept.o"
    check "... the check finds such a variable" is ".data .bss" \
        "$(variables "$WORK/kept.o" | awk '{ printf "%s%s", sep, $1; sep = " " }')"
fi
