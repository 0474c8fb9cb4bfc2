#!/bin/bash
# Architecture-dependent behaviour, with programs of two ranks: arithmetic of MPICH's kernels,
# results of every algorithm within and between nodes, and a trace whose report is read.
# tests/arch/emulated runs it where ranks are slow.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"
. "$ROOT/tests/internode/internode.bash"

# ---- kernels -----------------------------------------------------------------------------------------

for case in 'kernels 1' 'association 2'; do
    read -r program ranks <<<"$case"
    plain "$ranks" "$PROGRAMS/$program" >"$program.out" 2>&1
    status=$?
    sed 's/^/# /' "$program.out"
    if [ "$status" -eq 77 ]; then
        skip "$program computes the same results as MPICH" "not MPICH 4.0.2"
    else
        check "$program computes the same results as MPICH" is 0 "$status"
    fi
done

# ---- results -------------------------------------------------------------------------------------------

ranks=2 each=1 whole=
. "$ROOT/tests/intranode/results.bash"
. "$ROOT/tests/internode/results.bash"

# ---- the trace -----------------------------------------------------------------------------------------

compare calls 2 "$PROGRAMS/calls" 9
observe calls 2 "$PROGRAMS/calls" 9
check "a program with every operation prints the same as without the library, and its archive is right" all \
    'ran_well calls' 'same <(own_counts calls.plain.out) <(own_counts calls.out)' 'archive_agrees calls.trace calls.out'
check "... the report names its call sites" all 'report_json calls.trace calls.json' \
    'is True "$(json calls.json "any((site[\"file\"] or \"\").endswith(\"/calls.c\") for site in d[\"sites\"])")"'
