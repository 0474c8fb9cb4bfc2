# Control groups of either version, sourced after sh.sh by scripts that need one.
# shellcheck shell=bash

# lends_controller DIRECTORY CONTROLLER: groups of version 2 below it have the controller's files; what is
# changed for that is changed back at exit.
lends_controller() {
    grep -qw "$2" "$1/cgroup.subtree_control" && return
    grep -qw "$2" "$1/cgroup.controllers" && { echo "+$2" >"$1/cgroup.subtree_control"; } 2>/dev/null || return 1
    at_exit+=("echo '-$2' >'$1/cgroup.subtree_control'")
}

# make_group VERSION CONTROLLER FILE: a new group below this process's own, or below the one above all,
# that has the file and may be joined; its directory in $group. It is removed at exit.
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

# seeing_quota QUOTA PERIOD COMMAND...: where /sys/fs/cgroup is, for it alone, a container's of version 2
# with that quota, made by hand.
seeing_quota() {
    unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup && echo "$1 $2" >/sys/fs/cgroup/cpu.max &&
        shift 2 && exec "$@"' sh "$@"
}
