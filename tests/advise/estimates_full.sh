#!/bin/bash
# Compares estimates with a run by the advised rules, and with a trial of MPICH's algorithm against
# the advised one. The figures are printed, never asserted, because they depend on the machine's
# load. The goal is 25 %.
. "$(dirname "$0")/../lib/sh.sh"

# Prints the advised call sites of an advice file, for STAGGER_TRIAL.
trials() {
    json "$1" '"; ".join("%s@%s=mpich|%s" % (g["operation"], g["site"]["id"], g["advice"])
                         for g in d["groups"] if g["advice"] is not None)'
}

# beside NAME: prints the estimates of NAME.json beside the measurements of NAME.after.json and
# NAME.trial.json at the same call sites.
beside() {
    "$PYTHON" - "$1" "$1.json" "$1.after.json" "$1.trial.json" <<'PYTHON'
import json, sys
name = sys.argv[1]
advice, after, tried = (json.load(open(file)) for file in sys.argv[2:])

def told(way, measured, estimate):
    return f"{measured / 1e3:.2f} by {way} ({100 * (measured / estimate - 1):+.0f} %)"

for group in advice["groups"]:
    at = f"{group['operation']} at {group['site']['function']}"
    if group["advice"] is None:
        print(f"# {name}: {at}, {group['algorithm']}: {group['verdict']}")
        continue
    site = [s for s in after["sites"]
            if s["id"] == group["site"]["id"] and s["op"] == group["operation"]][0]
    trial = [t for t in tried["trials"]
             if t["trial"] == f"{group['operation']}@{group['site']['id']}"][0]
    estimates = {e["algorithm"]: e["blocked_ns"] for e in group["estimates"]}
    arms = {a["arm"]: a["blocked_ns"]["mean"] for a in trial["arms"]}
    best = group["advice"]
    print(f"# {name}: {at}, us blocked a call: {group['algorithm']} "
          f"{group['measured']['blocked_ns'] / 1e3:.2f}; {best} {estimates[best] / 1e3:.2f} estimated, "
          + told("the next run", site["blocked_ns"] / site["calls"], estimates[best]) + ", "
          + told("a trial", arms[best], estimates[best]) + "; mpich "
          f"{estimates['mpich'] / 1e3:.2f} estimated, " + told("a trial", arms["mpich"], estimates["mpich"]))
PYTHON
}

# estimate NAME RANKS PROGRAM ARGUMENT...: runs with MPICH, with the advised rules, and alternating
# (a trial).
estimate() {
    local name=$1
    shift
    STAGGER_BARRIER=mpich STAGGER_REDUCE=mpich STAGGER_ALLREDUCE=mpich observe "$name" "$@"
    ran_well "$name" && "$STAGGER" advise --json -o "$name.conf" "$name.trace" >"$name.json" &&
        STAGGER_CONFIG=$WORK/$name.conf observe "$name.after" "$@" && ran_well "$name.after" &&
        report_json "$name.after.trace" "$name.after.json" &&
        STAGGER_TRIAL=$(trials "$name.json") STAGGER_TRIAL_BLOCK=5 observe "$name.trial" "$@" &&
        ran_well "$name.trial" && report_json "$name.trial.trace" "$name.trial.json"
}

check "a solver at 2 ranks runs by its advice and in a trial" estimate solver 2 "$PROGRAMS/cg"
beside solver
check "a late leaf inside a node gets advice, and a trial tests it" estimate inside 4 "$PROGRAMS/advised" 60 60
beside inside
STAGGER_RANKS_PER_NODE=1 check "a late leaf between nodes gets advice, and a trial tests it" estimate between 4 "$PROGRAMS/advised" 60 60
beside between
