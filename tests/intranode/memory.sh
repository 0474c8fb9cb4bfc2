#!/bin/bash
# Shared memory: none if no rule needs it, and never more than STAGGER_MEMORY allows.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

# held NAME WHEN: bytes of the library's segments that rank 0 had mapped
held() { awk -v when="$2" '$1 == when { print $2 }' "$1.out"; }

# shared NAME: a run with 4 ranks and 10 communicators
shared() { rm -rf "$1.trace" && observe "$1" 4 "$PROGRAMS/memory" 10; }

# ---- no rule, no memory --------------------------------------------------------------------------
STAGGER_RULES='*=handoff' shared with
check "communicators have segments when a rule needs them" all 'gave with' \
    '[ "$(held with made)" -ge $(($(held with start) + 10 * 4 * 8 * 4096)) ]'
check "freed communicators give their segments back" is "$(held with start)" "$(held with freed)"

least=$((10 * 4096)) # the account, a page, and what MPI_Init exchanges through
nothing_shared() { # NAME
    all "gave $1" "within 1 $least $(held "$1" start)" "is $(held "$1" start) $(held "$1" made)"
}
STAGGER_RULES='*=mpich' shared without
check "when all rules say mpich, nothing is shared, not even in MPI_Init" nothing_shared without
STAGGER_RULES='*[-4k]=mpich;*[4097-]=mpich' shared ranges
check "nothing is shared when rules say mpich for all sizes" nothing_shared ranges
STAGGER_RULES='*~2-3=handoff;*=mpich' shared sizes
check "nothing is shared when the rules are for communicators of other sizes" nothing_shared sizes
STAGGER_RULES='reduce@elsewhere.c:1=handoff;*=mpich' shared site
check "a rule for a call site may need a segment" all 'gave site' \
    '[ "$(held site made)" -gt "$(held site start)" ]'
STAGGER_RULES='*=mpich' STAGGER_TRIAL='reduce=mpich|handoff' shared trial
check "a trial may need a segment" all 'is 0 "$status"' '[ "$(held trial made)" -gt "$(held trial start)" ]'

# ---- STAGGER_MEMORY ------------------------------------------------------------------------------
STAGGER_MEMORY=1m STAGGER_RULES='*=handoff' shared limited
check "with STAGGER_MEMORY=1m results are right" all 'is 0 "$status"' \
    'archive_sound limited.trace' 'has limited.out "^again"'
check "... at most 1 MiB is mapped" within 140000 1048576 "$(held limited made)"
check "... one line says that the memory is not enough" all \
    'has_lines limited.err "^stagger: .*exceed STAGGER_MEMORY" 1' \
    'has_lines limited.err "^stagger: " 3'
check "... freed memory serves the next communicator" \
    [ "$(held limited again)" -gt "$(held limited freed)" ]
STAGGER_MEMORY=1m STAGGER_SLOTS=1024 STAGGER_RULES='*=handoff' shared tiny
check "when even MPI_COMM_WORLD does not fit, MPICH runs all calls, with one line" all 'is 0 "$status"' \
    'within 1 "$least" "$(held tiny made)"' 'has_lines tiny.err "^stagger: " 3' \
    'has tiny.err "for MPI_COMM_WORLD exceed STAGGER_MEMORY"'
STAGGER_MEMORY=1m STAGGER_RANKS_PER_NODE=1 shared nodes
check "the limit holds between nodes" all 'is 0 "$status"' 'within 1 1048576 "$(held nodes made)"' \
    'has_lines nodes.err "^stagger: .*exceed STAGGER_MEMORY" 1'
