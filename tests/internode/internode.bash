# Shared by the scripts of tests/internode, sourced after sh.sh and intranode.bash: runs programs
# between virtual nodes.
# shellcheck shell=bash

MODES='poll thread signal'

# run_across NAME MODE RANKS-PER-NODE RULES N PROGRAM ARG...
run_across() {
    local name=$1 mode=$2 each=$3 rules=$4
    shift 4
    rm -rf "$name.trace"
    STAGGER_RANKS_PER_NODE=$each STAGGER_RULES=$rules STAGGER_PROGRESS=$mode observe "$name" "$@"
}

# Rules that give every operation each of the protocols, with widely different parameters.
SPAN_RULES=(
    '*=adaptive;*=bypass'
    '*=tree'
    'barrier=dissemination;allreduce=pairwise;*=bypass(deterministic=0)'
    '*=adaptive(degree=2,tokens=3);*=bypass(linger=20)'
    '*=adaptive(tokens=2,predict=1,deterministic=0);*=tree(degree=1)'
    '*=tree(degree=2);*=bypass'
    '*=handoff'
    '*=srm'
    '*=srm(chunk=1)'
    '*=bcs(slice=100)'
    '*=bcs(slice=200,restart=slice,strobe=always,microphases=separate,progress=thread)'
)
