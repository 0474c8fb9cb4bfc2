#!/bin/bash
# Estimates beside what a run by the advised rules then measures: printed, never asserted, as they
# depend on what else the machine does. The goal is 25 %.
. "$(dirname "$0")/../lib/sh.sh"

# beside NAME: the estimates of NAME.json and what NAME.after.json measured at the same call sites.
beside() {
    "$PYTHON" - "$1" "$1.json" "$1.after.json" <<'PYTHON'
import json, sys
name = sys.argv[1]
advice, after = (json.load(open(file)) for file in sys.argv[2:])
for group in advice["groups"]:
    if group["advice"] is None:
        print(f"# {name}: {group['operation']} at {group['site']['function']}, "
              f"{group['algorithm']}: {group['verdict']}")
        continue
    site = [s for s in after["sites"]
            if s["id"] == group["site"]["id"] and s["op"] == group["operation"]][0]
    estimate = [e for e in group["estimates"]
                if e["algorithm"] == group["advice"]][0]["blocked_ns"]
    measured = site["blocked_ns"] / site["calls"]
    print(f"# {name}: {group['operation']} at {group['site']['function']}: {group['algorithm']} "
          f"blocked {group['measured']['blocked_ns'] / 1e3:.2f} us a call; {group['advice']} "
          f"{estimate / 1e3:.2f} estimated, {measured / 1e3:.2f} measured: "
          f"{100 * (measured / estimate - 1):+.0f} %")
PYTHON
}

# estimate NAME RANKS PROGRAM ARGUMENT...: by MPICH, then by the rules.
estimate() {
    local name=$1
    shift
    STAGGER_BARRIER=mpich STAGGER_REDUCE=mpich STAGGER_ALLREDUCE=mpich observe "$name" "$@"
    ran_well "$name" && "$STAGGER" advise --json -o "$name.conf" "$name.trace" >"$name.json" &&
        STAGGER_CONFIG=$WORK/$name.conf observe "$name.after" "$@" && ran_well "$name.after" &&
        report_json "$name.after.trace" "$name.after.json"
}

check "a solver at 2 ranks runs by its advice" estimate solver 2 "$PROGRAMS/cg"
beside solver
check "a late leaf inside a node is advised on" estimate inside 4 "$PROGRAMS/advised" 60 20
beside inside
STAGGER_RANKS_PER_NODE=1 check "and between nodes" estimate between 4 "$PROGRAMS/advised" 60 20
beside between
