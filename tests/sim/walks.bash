# Sourced after lib/sh.sh by scripts that define a function explore().

# sound NAME OPTION...: explores without a violation, into NAME.out
sound() {
    local name=$1
    shift
    explore "$@" >"$name.out" 2>"$name.err" && empty "$name.err" && lacks "$name.out" violation: &&
        return
    tail -n 60 "$name.out"
    return 1
}

# ends FILE: for each case, the number of final states and the hash of their set
ends() { sed -nE 's/ +[0-9]+ states +[0-9]+ steps//p' "$1"; }

# alike NAME OPTION...: all orders have the same final states as the reduced walk in NAME.out
alike() {
    local name=$1
    shift
    sound "$name.all" --exhaustive --unreduced "$@" && [ -n "$(ends "$name.out")" ] &&
        is "$(ends "$name.out")" "$(ends "$name.all.out")"
}
