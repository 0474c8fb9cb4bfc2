#include "intercept/trial.h"

#include "runtime/recording.h"

/* What was seen of a trial: bits of a word, so many for each. */
enum seen {
    SEEN_CALL,     /* some call was matched */
    SEEN_LEFT_OUT, /* an arm has no turns; by reach, of nonblocking calls and of others: */
    SEEN_BITS = SEEN_LEFT_OUT + 4,
};
_Static_assert(SG_TRIALS_MAX *SEEN_BITS <= 64, "one word");

static _Atomic uint64_t seen;
static _Atomic uint64_t said; /* by rank 0 of the world */

static uint64_t bit_of(int trial, int what)
{
    return UINT64_C(1) << (trial * SEEN_BITS + what);
}

static int left_out(const struct sg_rule_comm *comm)
{
    return SEEN_LEFT_OUT + 2 * comm->nonblocking + (comm->reach == SG_REACH_INTERNODE);
}

/* ---- what is said ----------------------------------------------------------------------------*/

/* One line for each arm that has no turns where a bit says so. */
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
            sg_log("trial %s: %s is left out of nonblocking calls, which MPICH runs unseen", place,
                   text);
        else
            sg_log("trial %s: %s does not run %s and is left out there", place, text, where);
    }
    if (running < 2)
        sg_log("trial %s: fewer than two algorithms are left %s%s, where rules decide", place,
               where, comm.nonblocking ? " of nonblocking calls" : "");
}

/* Each bit once. */
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
    /* What rank 0 does not come to see it says at the end. */
    if (sg_process.rank == 0)
        say(&sg_process, bits);
}

/* ---- a call ----------------------------------------------------------------------------------*/

/* Trials that a call would be of had all arms their turns, down to the first that it is of. */
void sg_trial_look(const struct sg_call *call, const struct sg_rule_site *site,
                   const struct sg_rule_comm *rule_comm)
{
    const struct sg_ruleset *rules = sg_process.rules;
    int first, count;

    /* Where nothing but MPICH's own runs there is nothing to try. */
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

const struct sg_choice *sg_trial_now(const struct sg_comm *comm,
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
            sg_log("trial %s: no call was like that", sg_trial_pattern(process->rules, trial));
    }
}
