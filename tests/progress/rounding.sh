#!/bin/bash
# Late contributions are combined in the floating-point modes of the call that they belong to.
. "$(dirname "$0")/../lib/sh.sh"
. "$ROOT/tests/progress/progress.bash"

for progress in thread signal; do
    for mode in up zero flush; do
        run_late rounding $progress "$PROGRAMS/late_rounding" "$mode" "$WORK/words"
        check "a late contribution is combined in mode '$mode' of the call ($progress)" \
            finished rounding
    done
done
