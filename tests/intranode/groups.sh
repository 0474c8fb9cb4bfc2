#!/bin/bash
# With many ranks on a node, groups of ranks, by a rule or by the model of this machine, give the same
# bits as the climb.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/intranode/intranode.bash"

groups=(4)
! in_full || groups=(2 4 8)
for group in "${groups[@]}"; do
    run_by samples "srm(form=groups,group=$group)" 9 "$PROGRAMS/samples"
    check "groups of $group among 9 ranks give MPICH's own bits, in samples" gave samples
done
if in_full; then
    run_by results 'srm(form=groups)' 11 "$PROGRAMS/results"
    if [ "$status" -eq 77 ]; then
        skip "groups give the reference's bits at 11 ranks" "not MPICH 4.0.2"
    else
        check "groups give the reference's bits at 11 ranks" gave results
        calls_of results
        check "srm ran every call with data" ran_by results srm call
        check "the archive has exactly the calls that were made" archive_agrees results.trace results.out
    fi
fi
run_by samples 'srm(form=groups,group=2,outer=4)' 9 "$PROGRAMS/samples"
check "groups of groups among 9 ranks give MPICH's own bits, in samples" gave samples
STAGGER_RULES='*=srm(form=groups,group=4)' observe calls 9 "$PROGRAMS/calls" 20
check "barriers, reduces and allreduces of a program run in groups" all 'ran_well calls' \
    'archive_agrees calls.trace calls.out'
for wrong in 'group=1' 'group=65' 'outer=1' 'outer=513' 'form=group'; do
    check "srm($wrong) is refused in one line" \
        has_lines <(STAGGER_RULES="*=srm($wrong)" "$STAGGER" info 2>&1 >/dev/null) '^stagger: STAGGER_RULES' 1
done

# ---- by default --------------------------------------------------------------------------------------

# chosen NAME: the notes of its archive about communicators' forms
chosen() { otf2-marker "$1.trace/traces.otf2" 2>/dev/null | sed -n 's/.*Text: "barriers and allreduces of \(.*\)"$/\1/p'; }
observe short 9 "$PROGRAMS/calls" 3
check "ranks without a processor each climb" all 'ran_well short' 'is "" "$(chosen short)"'

# The kernel's files of one socket of 8 clusters of 8 cores; their directory is $WORK/system.
for ((core = 0; core < 64; core++)); do
    cpu=system/cpu/cpu$core
    mkdir -p "$cpu/cache/index0" "$cpu/topology"
    echo 3 >"$cpu/cache/index0/level"
    echo "$((core / 8 * 8))-$((core / 8 * 8 + 7))" >"$cpu/cache/index0/shared_cpu_list"
    echo "$core" >"$cpu/topology/thread_siblings_list"
    echo 0-63 >"$cpu/topology/core_siblings_list"
done
# shellcheck disable=SC2016 # expanded by the inner shell
there=(unshare --mount sh -c 'mount --bind "$0" /sys/devices/system && exec "$@"' "$WORK/system")
[ "$(id -u)" = 0 ] || there=(unshare --user --map-root-user "${there[@]:1}")
export PRETENDED_PROCESSORS=64
pretended=$PROGRAMS/libprocessors.so
if ! "${there[@]}" true 2>why; then
    skip "the model chooses the groups of a machine with many cores" "$(tail -n 1 why)"
    exit
fi
LD_PRELOAD=$pretended "${there[@]}" "$STAGGER" info >info.out
check "info shows the groups that the model chooses, with their times" all \
    'has info.out "^    64 processors, 64 cores, 8 last-level caches, 1 NUMA node, 1 socket$"' \
    'has info.out "^    64 ranks, bound in order: groups of 8 ranks, up to 48 bytes .by the model 589 ns, climb 1239.$"' \
    'has info.out "^    16 ranks, not bound: groups of "'
printf '#!/bin/sh\nexec %s "$@"\n' "$(printf "'%s' " "${there[@]}" "$MPIEXEC")" >mpiexec && chmod +x mpiexec
MPIEXEC=$WORK/mpiexec
PRELOAD=$pretended:$PRELOAD
observe default 9 "$PROGRAMS/calls" 3
check "ranks with a processor each run in the groups that the model chooses, and the archive says so" all \
    'ran_well default' 'archive_agrees default.trace default.out' \
    'has <(chosen default) "^MPI_COMM_WORLD, 9 ranks of one node: groups of [48] ranks, up to [0-9]+ bytes "'
observe bits 9 "$PROGRAMS/samples"
check "... with MPICH's own bits, in samples" gave bits
rm system/cpu/cpu1/topology/core_siblings_list system/cpu/cpu0/cache/index0/level
observe unknown 9 "$PROGRAMS/calls" 3
check "ranks climb if the kernel does not show which processors share caches" all 'ran_well unknown' \
    'is "" "$(chosen unknown)"'
LD_PRELOAD=$pretended "${there[@]}" "$STAGGER" info >info.out
check "... info says so" has info.out '^    climb: /sys does not show which processors share caches$'
