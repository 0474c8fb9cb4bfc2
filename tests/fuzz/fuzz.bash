# Sourced by the fuzzing scripts: builds the targets and runs one. Needs ROOT, BUILD and WORK.
# shellcheck shell=bash
. "$ROOT/tests/lib/sanitized.bash"
FUZZ=$SANITIZED

fuzz_can_build() { "$ROOT/.ci/deps" --missing fuzz >/dev/null; }

fuzz_build() { sanitized_build fuzz-programs; }

# Commands that read a run's directory, besides `stagger report`: commands.h.
fuzz_commands=("report --html=- DIR" "report --slices --calls DIR" "report --rules DIR" "export --perfetto=- DIR"
    "compare DIR DIR" "compare --html=- DIR DIR" "advise DIR" "advise --bcs DIR" "arrivals DIR")

# One line per target: the program, and the command to run if it has several.
fuzz_targets() {
    local program
    for program in "$FUZZ"/fuzz/*; do
        program=$(basename "$program")
        echo "$program"
        case "$program" in
        archive | log) printf '%s\n' "${fuzz_commands[@]/#/$program }" ;;
        esac
    done
}

# fuzz_run TARGET OPTION...: keeps failing inputs in BUILD/fuzz-found, and adds new coverage to
# FUZZ_CORPUS/TARGET, if that is set.
fuzz_run() {
    local target=${1%% *} command=${1#"${1%% *}"} new
    shift
    new=${FUZZ_CORPUS:-$WORK/corpus}/$target
    mkdir -p "$new" "$BUILD/fuzz-found" "$WORK/files"
    # Discards the output of the code under test; libFuzzer and the sanitizers still print.
    [ -z "$command" ] || local -x FUZZ_COMMAND=$command
    TMPDIR=$WORK/files UBSAN_OPTIONS=print_stacktrace=1 \
        LSAN_OPTIONS=suppressions=$ROOT/tests/system/lsan.supp:print_suppressions=0 \
        "$FUZZ/fuzz/$target" -seed=1 -max_len=20000 -timeout=600 -rss_limit_mb=4000 -malloc_limit_mb=256 \
        -close_fd_mask=3 -artifact_prefix="$BUILD/fuzz-found/$target-" "$@" \
        "$new" "$ROOT/tests/fuzz/corpus/$target"
}
