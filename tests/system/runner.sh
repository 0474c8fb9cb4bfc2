#!/bin/bash
# tests/run itself: its counts, parallel unit tests, and that it leaves nothing running. Also
# .ci/run's handling of its results.
. "$(dirname "$0")/../lib/sh.sh"

build=$WORK/build
meet=$WORK/meet
# In a tree of its own, for its tests.
mkdir -p "$build/tests/runner" tree/tests/{runner,kind} && cp "$ROOT/tests/run" tree/tests
mkfifo "$meet" "$WORK/begun"
unit_test() {
    printf '#!/bin/bash\n%s\n' "$2" >"$build/tests/runner/test_$1"
    chmod +x "$build/tests/runner/test_$1"
    touch "tree/tests/runner/test_$1.c"
}
run() { MEET=$meet timeout "$PROGRAM_SECONDS" tree/tests/run "$build" check only=runner/test_"$1" >run.out 2>&1; }
closing() { is "$1" "$(tail -n 1 run.out)"; }
# Processes that carry the mark of this script's fake tests in their environment.
left() { grep -lzx "MEET=$meet" /proc/[0-9]*/environ 2>/dev/null; }

unit_test counted 'echo "ok - a"; echo "not ok - b"; echo "skip - c: d"; exit 1'
run counted
check "the run counts passed, failed and skipped checks, and shows the failed ones" all "is 1 $?" \
    'closing "1 passed, 1 failed, 1 skipped"' 'has run.out "^    not ok - b$"' \
    'has "$build/test-logs/runner.test_counted.log" "^ok - a$"'
unit_test counted 'echo "ok - a"; exit 3'
run counted
check "a status without a failed check to explain it fails" all "is 1 $?" 'closing "1 passed, 1 failed, 0 skipped"' \
    'has run.out "not ok - runner/test_counted exits with status 0 .it was 3.$"'
unit_test counted 'exit 0'
run counted
check "a test without a result fails" all "is 1 $?" 'closing "0 passed, 1 failed, 0 skipped"'

unit_test stays 'echo "ok - stays"'
unit_test gone 'echo "not ok - gone"; exit 1'
rm tree/tests/runner/test_gone.c
tree/tests/run "$build" check only=runner/test_stays only=runner/test_gone >run.out 2>&1
check "a unit test whose source is gone is not run" all "is 0 $?" 'closing "1 passed, 0 failed, 0 skipped"'

# Each writes to the other; opening a pipe blocks until its other end is open.
unit_test meets_1 'echo >"$MEET"; echo "ok - met"'
unit_test meets_2 'read -r <"$MEET"; echo "ok - met"'
run meets
check "tests run side by side" all "is 0 $?" 'closing "2 passed, 0 failed, 0 skipped"' \
    'has run.out "^runner/test_meets_1 " && has run.out "^runner/test_meets_2 "'

script() { # NAME COMMENT
    printf '%s\n' '#!/bin/bash' "$2" "cd '$WORK' && echo begin $1 >>order" 'sleep 0.3' "echo end $1 >>order" 'echo "ok - a"' \
        >"tree/tests/kind/$1.sh"
}
script a '' && script b '# alone: it counts processes' && script c '# long'
tree/tests/run "$build" check only=kind/ >run.out 2>&1
check "a script that must run alone runs after all others" all "is 0 $?" \
    'closing "3 passed, 0 failed, 0 skipped"' 'is "begin b end b" "$(tail -n 2 order | xargs)"'

unit_test leaves 'setsid sleep 1000 & sleep 1000 & echo "ok - left"'
run leaves
check "processes that a test leaves running are ended" all "is 0 $?" 'is "" "$(left)"'
unit_test hangs "echo >'$WORK/begun'; setsid sleep 1000 & sleep 1000"
MEET=$meet tree/tests/run "$build" check only=runner/test_hangs >run.out 2>&1 &
read -r <"$WORK/begun"
kill "$!" $(cat "/proc/$!/task/$!/children") # as by a terminal or timeout, which reach its shells, too
wait "$!"
check "ending the run ends its tests" all "is 130 $?" 'is "" "$(left)"'

unit_test first 'echo "ok - first"'
unit_test second 'echo "ok - second"'
unit_test third 'echo "ok - third"'
echo "runner/test_second: cannot be here" >skips
tree/tests/run "$build" check only=runner/test_first only=runner/test_second "skips=$WORK/skips" >run.out 2>&1
check "excluded tests among the selected ones are reported with their reason" all "is 0 $?" \
    'closing "1 passed, 0 failed, 1 skipped"' 'has run.out "^skip - runner/test_second: cannot be here$"' \
    'lacks run.out test_third'

# ci DEMO CHECK FRESH: .ci/run in a tree whose targets are these commands
mkdir -p ci/.ci && cp "$ROOT/.ci/run" ci/.ci
ci() {
    printf 'demo:\n\t@%s\ncheck:\n\t@%s\nfresh:\n\t@%s\n' "$@" >ci/Makefile
    ci/.ci/run >run.out 2>run.err
}
ci true 'echo 3 passed, 0 failed, 1 skipped' 'echo 0 passed, 0 failed, 1 skipped'
check "the last line of continuous integration counts all its tests" all "is 0 $?" \
    'closing "4 passed, 0 failed, 2 skipped"'
ci false 'echo 3 passed, 2 failed, 1 skipped; false' 'echo no package; false'
check "targets that do not complete count as failures" all "is 1 $?" 'closing "3 passed, 4 failed, 1 skipped"'
