/* Chooses the algorithm of a call (sg_choose), writes the trials' log lines and records, and
 * repeats calls that failed on this rank alone (sg_unmet_*).
 *
 * A choice is cached at the call site or in the communicator, so that repeated calls skip the
 * rules. Candidates of a trial are not cached: they change from block to block.
 */
#include "intercept/choose.h"

#include "internode/internode.h"
#include "intranode/mpi/intranode.h"
#include "mpi/operands.h"
#include "runtime/recording.h"

#include <stdlib.h>

/* Findings about each trial: SEEN_BITS bits a trial, all in one word. */
enum seen {
    SEEN_CALL,     /* a call matched the trial */
    SEEN_LEFT_OUT, /* some candidate has no blocks: a bit by reach, blocking or not */
    SEEN_BITS = SEEN_LEFT_OUT + 4,
};
_Static_assert(SG_TRIALS_MAX *SEEN_BITS <= 64, "one word");

static _Atomic uint64_t seen;
static _Atomic uint64_t said; /* reported by rank 0 of the world */

static uint64_t bit_of(int trial, int what)
{
    return UINT64_C(1) << (trial * SEEN_BITS + what);
}

static int left_out(const struct sg_rule_comm *comm)
{
    return SEEN_LEFT_OUT + 2 * comm->nonblocking + (comm->reach == SG_REACH_INTERNODE);
}

/* ---- log lines ------------------------------------------------------------------------------- */

/* Logs one line for each candidate without blocks, for a bit that is set. */
static void say_left_out(const struct sg_process *process, int trial, int what)
{
    const struct sg_rule_comm comm = {.reach = (what - SEEN_LEFT_OUT) % 2 ? SG_REACH_INTERNODE
                                                                          : SG_REACH_NODE,
                                      .nonblocking = what - SEEN_LEFT_OUT >= 2};
    const char *where = comm.reach == SG_REACH_INTERNODE ? "between nodes" : "inside a node";
    const char *place = sg_trial_pattern(process->rules, trial);
    int first, count, running = 0;

    sg_trial_range(process->rules, trial, &first, &count);
    for (int arm = first; arm < first + count; arm++) {
        const char *text = sg_trial_arm_text(process->rules, arm);

        if (sg_trial_runs(process->rules, arm, &comm))
            running++;
        else if (comm.nonblocking && sg_ruleset_choice(process->rules, arm - 1)->algorithm == 0)
            sg_log("trial %s: %s skips nonblocking calls, which MPICH would run unrecorded", place,
                   text);
        else
            sg_log("trial %s: %s does not run %s and is skipped there", place, text, where);
    }
    if (running < 2)
        sg_log("trial %s: fewer than two algorithms remain %s%s; rules decide there", place, where,
               comm.nonblocking ? " of nonblocking calls" : "");
}

/* Reports each bit once. */
static void say(const struct sg_process *process, uint64_t bits)
{
    uint64_t before = atomic_fetch_or(&said, bits);

    for (int trial = 0; trial < sg_trial_count(process->rules); trial++) {
        for (int what = SEEN_LEFT_OUT; what < SEEN_BITS; what++) {
            if ((bits & ~before & bit_of(trial, what)) != 0)
                say_left_out(process, trial, what);
        }
    }
}

static void see(uint64_t bits)
{
    if ((atomic_load_explicit(&seen, memory_order_relaxed) & bits) == bits)
        return;
    atomic_fetch_or(&seen, bits);
    /* Rank 0 reports at the end what only other ranks have seen. */
    if (sg_process.rank == 0)
        say(&sg_process, bits);
}

/* ---- a call ---------------------------------------------------------------------------------- */

/* Notes which trial the call belongs to, for the log lines. Looks at each trial that matches the
 * call, down to the first with a candidate that runs. site: NULL if the choice uses only what all
 * ranks know. */
static void sg_trial_look(const struct sg_call *call, const struct sg_rule_site *site,
                          const struct sg_rule_comm *rule_comm)
{
    const struct sg_ruleset *rules = sg_process.rules;
    int first, count;

    /* MPICH alone runs here: there is nothing to compare. */
    if (rule_comm->reach == 0)
        return;
    for (int trial = 0; trial < sg_trial_count(rules); trial++) {
        uint64_t bits = bit_of(trial, SEEN_CALL);
        bool none = true;

        if (!sg_trial_matches(rules, trial, call->operation, site, rule_comm, call->bytes))
            continue;
        sg_trial_range(rules, trial, &first, &count);
        for (int arm = first; arm < first + count; arm++) {
            if (sg_trial_takes(rules, arm, rule_comm))
                none = false;
            else
                bits |= bit_of(trial, left_out(rule_comm));
        }
        see(bits);
        if (!none)
            return;
    }
}

/* Returns the candidate whose block it is on this communicator, for the trial that a matched choice
 * stands for. A choice outside any trial is returned unchanged. */
static const struct sg_choice *sg_trial_now(const struct sg_comm *comm,
                                            const struct sg_rule_comm *rule_comm,
                                            const struct sg_choice *matched)
{
    uint32_t seq = atomic_load_explicit(&comm->seq, memory_order_relaxed);

    if (matched->arm == 0)
        return matched;
    return sg_trial_turn(sg_process.rules, matched, rule_comm,
                         (uint32_t)sg_process.config.trial_seed,
                         seq / (uint32_t)sg_process.config.trial_block);
}

/* ---- start and end ---------------------------------------------------------------------------*/

void sg_trial_record(const struct sg_process *process)
{
    for (int arm = 1; arm <= sg_trial_arms(process->rules); arm++) {
        int trial = sg_trial_of(process->rules, arm);
        size_t text_bytes;
        struct sg_record_arm *record =
            sg_recording_define(process->log, sg_trial_pattern(process->rules, trial),
                                sg_trial_arm_text(process->rules, arm), &text_bytes);

        if (record == NULL)
            return;
        record->arm = (uint8_t)arm;
        record->trial = (uint8_t)trial;
        record->text_bytes = (uint32_t)text_bytes;
        record->block = (uint32_t)process->config.trial_block;
        record->seed = (uint32_t)process->config.trial_seed;
        sg_log_publish(record, SG_RECORD_ARM);
    }
}

void sg_trial_stop(const struct sg_process *process)
{
    uint64_t any = atomic_load(&seen);

    if (sg_trial_count(process->rules) == 0 ||
        sg_exchange_unite(&process->exchange, &any, sizeof any) != SG_OK || process->rank != 0)
        return;
    say(process, any);
    for (int trial = 0; trial < sg_trial_count(process->rules); trial++) {
        if ((any & bit_of(trial, SEEN_CALL)) == 0)
            sg_log("trial %s: no call matches", sg_trial_pattern(process->rules, trial));
    }
}

/* True if the choice may depend on the call site. If ranks cannot agree, they choose only by what
 * all of them know. */
static bool is_by_site(const struct sg_call *call, const struct sg_comm *comm)
{
    return sg_process.by_site[call->operation] &&
           (comm->internode == NULL || sg_internode_agrees(comm->internode));
}

static struct sg_rule_comm rule_comm_of(const struct sg_call *call, const struct sg_comm *comm)
{
    struct sg_rule_comm rule_comm = {
        .name = comm->name, .size = comm->size, .nonblocking = call->request != NULL};

    if (comm->intranode != NULL)
        rule_comm.reach = SG_REACH_NODE;
    else if (comm->internode != NULL)
        rule_comm.reach = SG_REACH_INTERNODE;
    return rule_comm;
}

static bool is_last(const struct sg_comm_choice *last, const struct sg_comm_choice *call)
{
    return last->choice != NULL && last->bytes == call->bytes && last->site == call->site;
}

/* Matches the rules. Out of line: repeated calls do not get here. */
static __attribute__((noinline)) const struct sg_choice *
match(const struct sg_call *call, struct sg_site *site, struct sg_comm *comm, bool by_site)
{
    const struct sg_rule_comm rule_comm = rule_comm_of(call, comm);
    /* A choice by call site holds on every communicator of one node that has an engine. */
    bool by_site_alone = by_site && comm->intranode != NULL;
    const struct sg_rule_site *from = by_site || comm->internode == NULL ? &site->rule : NULL;
    struct sg_comm_choice found = {.bytes = call->bytes, .site = by_site ? site : NULL};
    bool fixed;

    if (is_last(&comm->trial[call->operation], &found) && !rule_comm.nonblocking)
        return sg_trial_now(comm, &rule_comm, comm->trial[call->operation].choice);
    found.choice =
        sg_ruleset_match(sg_process.rules, call->operation, from, &rule_comm, call->bytes, &fixed);
    if (sg_process.has_trials)
        sg_trial_look(call, from, &rule_comm);
    /* Candidates are not cached; nor is a choice of a nonblocking call, which a trial may decide
     * differently for blocking calls. */
    if (found.choice->arm != 0 && !rule_comm.nonblocking)
        comm->trial[call->operation] = found;
    if (found.choice->arm != 0 || (sg_process.has_trials && rule_comm.nonblocking))
        return sg_trial_now(comm, &rule_comm, found.choice);
    if (!by_site_alone)
        comm->last[call->operation] = found;
    else if (fixed) /* release: pairs with choose */
        atomic_store_explicit(&site->fixed[call->operation], found.choice, memory_order_release);
    return found.choice;
}

static inline const struct sg_choice *choose(const struct sg_call *call, struct sg_site *site,
                                             struct sg_comm *comm, bool by_site)
{
    const struct sg_comm_choice *last = &comm->last[call->operation];
    const struct sg_choice *choice = NULL;

    if (by_site && comm->intranode != NULL) /* acquire: the choice itself is immutable */
        choice = atomic_load_explicit(&site->fixed[call->operation], memory_order_acquire);
    else if (last->bytes == call->bytes && last->site == (by_site ? site : NULL))
        choice = last->choice;
    return choice != NULL ? choice : match(call, site, comm, by_site);
}

const struct sg_choice *sg_choose_alike(const struct sg_call *call)
{
    return choose(call, NULL, sg_comm_find(call->comm), false);
}

const struct sg_choice *sg_choose(struct sg_call *call, struct sg_site *site, struct sg_comm *comm)
{
    bool by_site = is_by_site(call, comm);

    if (by_site && (call->intranode != NULL || call->internode != NULL))
        call->rules = sg_process.rules;
    return choose(call, site, comm, by_site);
}

#define KEPT_MAX 8 /* calls kept per communicator; the oldest is dropped first */

struct sg_unmet {
    int count;
    struct sg_call calls[KEPT_MAX]; /* as the application made them, oldest first */
};

static void take_out(struct sg_unmet *unmet, int index)
{
    unmet->count--;
    for (int i = index; i < unmet->count; i++)
        unmet->calls[i] = unmet->calls[i + 1];
}

void sg_unmet_forget(struct sg_comm *comm)
{
    free(comm->unmet);
    comm->unmet = NULL;
}

/* True if the other ranks may have made the call without this rank, and this rank can make it with
 * other buffers. */
static bool may_be_made(const struct sg_comm *comm, const struct sg_call *call)
{
    if ((call->intranode == NULL && call->internode == NULL) || call->count <= 0 ||
        call->bytes == 0 || !sg_type_is_builtin(call->datatype))
        return false;
    if (call->root < 0 || call->root >= comm->size)
        return false;
    return call->operation == SG_OPERATION_REDUCE
               ? call->root == comm->rank && sg_operation_is_predefined(call->op)
               : call->operation == SG_OPERATION_BCAST && call->root != comm->rank;
}

static bool keep(struct sg_comm *comm, const struct sg_call *call)
{
    struct sg_unmet *unmet = comm->unmet;

    if (unmet == NULL)
        unmet = comm->unmet = calloc(1, sizeof *unmet);
    if (unmet == NULL)
        return false;
    if (unmet->count == KEPT_MAX)
        take_out(unmet, 0);
    unmet->calls[unmet->count++] = *call;
    return true;
}

int sg_unmet_pass(const struct sg_call *call)
{
    struct sg_comm *comm = sg_comm_find(call->comm);
    /* Keep it before the call fails: the error handler may not return. */
    bool is_kept =
        comm != NULL && call->request == NULL && may_be_made(comm, call) && keep(comm, call);
    int error = sg_call_pass(call);

    if (is_kept && error == MPI_SUCCESS && comm->unmet != NULL && comm->unmet->count > 0)
        take_out(comm->unmet, comm->unmet->count - 1);
    if (is_kept && comm->unmet != NULL && comm->unmet->count == 0)
        sg_unmet_forget(comm);
    return error;
}

/* ---- the failed call at the other ranks ---- */

static bool is_alike(const struct sg_call *one, const struct sg_call *other)
{
    return one->operation == other->operation && one->root == other->root &&
           one->bytes == other->bytes;
}

static enum sg_others others_are_in(const struct sg_call *kept, bool waits)
{
    return kept->internode != NULL ? sg_internode_look(kept->internode, kept, waits)
                                   : sg_intranode_look(kept->intranode, kept, waits);
}

static int pass_nothing(const struct sg_call *call)
{
    (void)call;
    return MPI_SUCCESS;
}

/* Elements occupy at most twice their size. */
static size_t room_of(const struct sg_call *kept)
{
    return 2 * (size_t)kept->bytes;
}

/* False: out of memory. */
static bool make_part(const struct sg_call *kept, struct sg_call *part)
{
    size_t room = room_of(kept);
    char *buffers = calloc(2, room);

    if (buffers == NULL)
        return false;
    *part = *kept;
    part->send = kept->operation == SG_OPERATION_BCAST ? buffers + room : buffers;
    part->receive = buffers + room;
    part->original = NULL;
    part->pass = pass_nothing;
    return true;
}

bool sg_unmet_begin(struct sg_comm *comm, const struct sg_call *call, bool waits,
                    struct sg_call *part)
{
    const struct sg_call *kept;
    enum sg_others others;

    if (comm->unmet == NULL)
        return false;
    kept = &comm->unmet->calls[0];
    /* The application repeats the call: that matches the others' call first. */
    if (is_alike(call, kept))
        return false;
    others = others_are_in(kept, waits);
    if (others == SG_OTHERS_NOWHERE)
        return false;
    if (others == SG_OTHERS_THERE && make_part(kept, part))
        return true;
    sg_unmet_forget(comm);
    return false;
}

void sg_unmet_end(struct sg_comm *comm, const struct sg_call *part)
{
    free((char *)part->receive - room_of(part));
    atomic_fetch_add_explicit(&comm->seq, 1, memory_order_relaxed);
    take_out(comm->unmet, 0);
    if (comm->unmet->count == 0)
        sg_unmet_forget(comm);
}
