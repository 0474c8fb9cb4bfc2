#!/bin/bash
# timeout: 7200
# Results within a node for the full product of pair, size, ranks and root, in one process.
. "$(dirname "$0")/../lib/sh.sh"

check "every pair, at every size, number of ranks and root, gives the reference's bits" \
    env SG_TEST_FULL=1 "$BUILD/tests/intranode/test_results"
