# Control groups of either version, sourced after sh.sh by scripts that need one.
# shellcheck shell=bash

# lends_controller DIRECTORY CONTROLLER: enables the controller for version 2 groups below the
# directory; reverts the change at exit. Other scripts that do so below the same directory wait until
# then.
declare -A locked_groups=() # by inode: locking a directory twice would wait for ourselves
lends_controller() {
    local lock inode
    grep -qw "$2" "$1/cgroup.controllers" || return
    inode=$(stat -c %i "$1")
    [ -n "${locked_groups[$inode]:-}" ] || { exec {lock}<"$1" && flock -w 900 "$lock" && locked_groups[$inode]=$lock; } || return 1
    grep -qw "$2" "$1/cgroup.subtree_control" && return
    { echo "+$2" >"$1/cgroup.subtree_control"; } 2>/dev/null || return 1
    at_exit+=("echo '-$2' >'$1/cgroup.subtree_control'")
}

# make_group VERSION CONTROLLER FILE: creates a joinable group with that file, below this process's
# own group or below the root group; leaves its directory in $group and removes it at exit.
make_group() {
    local root own parent
    group=
    root=$(awk -v version="$1" -v controller="$2" '
        version == 2 && $3 == "cgroup2" { print $2; exit }
        version == 1 && $3 == "cgroup" && ("," $4 ",") ~ ("," controller ",") { print $2; exit }' /proc/self/mounts)
    if [ "$1" = 2 ]; then
        own=$(sed -n 's/^0:://p' /proc/self/cgroup)
    else
        own=$(sed -n "s/^[0-9]*:\([^:]*,\)\?$2\(,[^:]*\)\?://p" /proc/self/cgroup)
    fi
    [ -n "$root" ] || return 1
    for parent in "$root${own%/}" "$root"; do
        [ "$1" = 1 ] || lends_controller "$parent" "$2" || continue
        mkdir "$parent/stagger-$$-$1" || continue
        group=$parent/stagger-$$-$1
        at_exit=("rmdir '$group'" "${at_exit[@]+"${at_exit[@]}"}")
        [ -w "$group/$3" ] && [ -w "$group/cgroup.procs" ] && return
    done 2>/dev/null
    return 1
}

# seeing_quota QUOTA PERIOD COMMAND...: runs the command with a hand-made /sys/fs/cgroup, as in a
# version 2 container with that quota.
seeing_quota() {
    unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup && echo "$1 $2" >/sys/fs/cgroup/cpu.max &&
        shift 2 && exec "$@"' sh "$@"
}
