#!/bin/bash
# stagger run with launchers other than mpiexec.mpich: mpirun, the user's own names and scripts, ssh
# that forwards no environment, srun; and in a container with a read-only root.
. "$(dirname "$0")/../lib/sh.sh"

plain 2 "$PROGRAMS/calls" 9 >plain.out 2>&1
# runs NAME COMMAND...: runs it under stagger run, with the archive in NAME.trace
runs() {
    local name=$1
    shift
    timeout --kill-after=5 "$PROGRAM_SECONDS" "$STAGGER" run --quiet -o "$WORK/$name.trace" -- "$@" \
        >"$name.out" 2>"$name.err" </dev/null
    status=$?
}
# recorded NAME: the archive has the program's own counts, and the program prints the same as
# without the library
recorded() {
    is 0 "$status" && archive_agrees "$1.trace" "$1.out" && same <(own_counts plain.out) <(own_counts "$1.out") && return
    cat "$1.err"
    return 1
}

# ---- names -----------------------------------------------------------------------------------------

for name in mpirun.mpich mpiexec.hydra; do
    command -v "$name" >/dev/null || { skip "ranks have the library under $name" "not installed"; continue; }
    runs "$name" "$name" -n 2 "$PROGRAMS/calls" 9
    check "ranks have the library under $name" recorded "$name"
done
mkdir bin
ln -s "$(command -v "$MPIEXEC")" bin/mpirun
# Hydra looks for its proxy beside itself.
ln -s "$(command -v hydra_pmi_proxy)" bin/hydra_pmi_proxy
printf '#!/bin/sh\nexec %s -n 2 "$@"\n' "$MPIEXEC" >bin/two
chmod +x bin/two
PATH=$PWD/bin:$PATH runs alias mpirun -n 2 "$PROGRAMS/calls" 9
check "... ranks have it when the launcher is a link named mpirun" recorded alias
PATH=$PWD/bin:$PATH runs script two "$PROGRAMS/calls" 9
check "... ranks have it behind a script around the launcher" recorded script

# ---- launchers with which MPICH does not connect --------------------------------------------------

# alone NAME VARIABLE...: runs a process that joins no job, with these variables
alone() { env "${@:2}" STAGGER_TRACE=off LD_PRELOAD="$LIB" "$PROGRAMS/calls" 5 >"$1.out" 2>"$1.err" </dev/null; }
wrong='started 4 jobs of 1 rank, because this program.s MPI is MPICH \(/.*libmpi.*\): use '
for launcher in "PMI_SIZE=4 PMI_RANK=0:the launcher $wrong.*the mpiexec of this MPICH" \
    "SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0:srun $wrong.*srun --mpi=pmi2"; do
    read -ra variables <<<"${launcher%%:*}"
    alone apart "${variables[@]}"
    check "process 0 of a job that MPICH does not join names MPICH's library and its launcher (${variables[0]})" \
        has_lines apart.err "^stagger: ${launcher#*:} for one job of 4 ranks$" 1
    alone others "${variables[0]}" "${variables[1]%0}1"
    check "the other processes do not" lacks others.err "jobs of 1 rank"
done
SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 LD_PRELOAD=$LIB STAGGER_TRACE=off "$MPIEXEC" -n 1 "$PROGRAMS/calls" 5 \
    >joined.out 2>joined.err </dev/null
check "nor does one rank of MPICH's own launcher inside of another" lacks joined.err "jobs of 1 rank"

# ---- ssh ---------------------------------------------------------------------------------------------

# "Connects" to this machine under any host name, with as little environment as sshd gives.
cat >bin/ssh <<'END'
#!/bin/sh
while :; do case $1 in -*) shift ;; *) break ;; esac; done
echo "$1" >>"${0%/*}/hosts"
shift
exec env -i PATH=/usr/bin:/bin HOME=/ sh -c "$*"
END
chmod +x bin/ssh
UCX_TLS=tcp,self,sm runs ssh "$MPIEXEC" -launcher ssh -launcher-exec "$PWD/bin/ssh" -hosts one,two -ppn 1 -n 2 \
    -genv UCX_TLS tcp,self,sm "$PROGRAMS/calls" 9
check "... ranks on hosts reached by ssh without an environment have it" all 'recorded ssh' \
    'has_lines bin/hosts "^(one|two)$" 2'

# ---- Slurm ---------------------------------------------------------------------------------------------

if ! command -v srun >/dev/null; then
    skip "... ranks have it under srun" "Slurm is not installed"
elif ! timeout 60 srun -n 1 true 2>srun.err </dev/null; then
    skip "... ranks have it under srun" "no job starts: $(head -n 1 srun.err)"
else
    runs srun srun --mpi=pmi2 -n 2 "$PROGRAMS/calls" 9
    check "... ranks have it under srun" recorded srun
    runs salloc salloc -n 2 "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9
    check "... ranks have it under Hydra in an allocation of Slurm" recorded salloc
fi

# ---- a read-only root --------------------------------------------------------------------------------

# read_only COMMAND...: only /dev/shm, /tmp and "$WORK/room" are writable
read_only() {
    # shellcheck disable=SC2016 # expanded by the inner shell
    unshare "${user[@]+"${user[@]}"}" --mount sh -c 'mount -o remount,bind,ro / &&
        mount -t tmpfs tmpfs "$0" && shift && exec "$@"' "$WORK/room" - "$@"
}
mkdir room outside
user=()
[ "$(id -u)" = 0 ] || user=(--user --map-root-user)
if ! read_only true 2>why; then
    skip "under a read-only root the program runs as ever" "$(tail -n 1 why)"
    exit
fi
cat >inside.sh <<END
cd /usr && touch never 2>/dev/null && exit 3
cd /usr && "$STAGGER" run --quiet -- "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 >"$WORK/room/nowhere.out" 2>"$WORK/room/nowhere.err"
echo \$? >"$WORK/room/nowhere.status"
"$STAGGER" run --quiet -o "$WORK/room/in" -- "$MPIEXEC" -n 2 "$PROGRAMS/calls" 9 >"$WORK/room/in.out" 2>"$WORK/room/in.err"
echo \$? >"$WORK/room/in.status"
"$STAGGER" report --json "$WORK/room/in" >"$WORK/room/in.json"
tar -C "$WORK/room" -cf - .
END
read_only sh "$WORK/inside.sh" >room.tar 2>room.err
check "under a read-only root the program runs as ever, and one line says that nothing is recorded" all \
    'tar -xf room.tar -C outside' 'is 0 "$(cat outside/nowhere.status)"' 'has_lines outside/nowhere.err "^stagger: " 1' \
    'same <(own_counts plain.out) <(own_counts outside/nowhere.out)' || cat room.err
check "under a read-only root with a writable directory the run is recorded" all 'is 0 "$(cat outside/in.status)"' \
    'archive_agrees outside/in outside/in.out' '[ "$(json outside/in.json "len(d[\"sites\"])")" -gt 0 ]'
