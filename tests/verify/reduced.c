/* The reduced walk of exhaustive.h, and the argument that the skipped orders lose nothing.
 *
 * Steps at different endpoints commute: each changes its own endpoint, and its messages join the
 * set in flight, from which any may be taken. (Accesses from one endpoint to another keep their
 * order and are taken at the target in that order. Each endpoint has its own time. A check looks at
 * one endpoint and at what it can know.) The endpoint of the one fault is chosen first, so that
 * only that endpoint can use up the fault: copies of a multicast are lost or doubled as they are
 * sent, and timers fire early there. Otherwise timers fire only if no other step is possible: such
 * a step comes after everything before it in every equivalent order.
 *
 * Claim: from a walked state, every run w of the full system is the beginning of a walked run, up
 * to the order of commuting steps; and for each step of w the endpoint's state and the letter have
 * been seen (eager.h). Proof by induction on the length of w, and then on the number of eager steps
 * up to the next state from which all steps are walked; that number is finite, because the length
 * of a trail is bounded.
 *
 * Case 1: all steps are walked. Then the first step of w is; the rest is shorter.
 *
 * Case 2: only the eager letter m is taken, at endpoint e. Let m1, m2 ... be the letters that w
 * takes at e before m, or at all if w does not take m. Suppose m commutes with the first i - 1 of
 * them. Then, with m taken first, w can be run up to mi; that run is no longer than w and has fewer
 * eager steps, so that letter mi has been seen in the state to which m, m1 .. have led. Hence the
 * claim that m is eager has been tried on mi and holds: m commutes with mi, too. So w with m in
 * front is a run as well, or m followed by w is, and the induction goes on after m. The steps of w
 * itself, with m in its later place, have been seen, because trying a claim sees both orders.
 *
 * So every end state is reached, and every violation is found, because it depends on one endpoint's
 * state and letter alone. (The limit on messages in flight is checked only in walked orders.)
 *
 * The walk does not repeat states; states of a walk that used a claim refuted later do not count.
 * tests/sim compares the end states with those of sg_walk_unreduced. */
#include "verify/automaton.h"
#include "verify/check.h"
#include "verify/eager.h"
#include "verify/exhaustive.h"
#include "verify/snapshot.h"

#include <stdlib.h>
#include <string.h>

/* A state of a whole small scenario: the states of its automata and the letters in flight between
 * them. */

#define SG_JOINT_FLIGHTS_MAX 96
#define SG_JOINT_STEPS_MAX 256

/* `budget`: 1 + the endpoint at which the one fault may still happen; 0: nowhere. Messages and
 * replies are sorted by number; accesses by initiator and target, and within such a pair in their
 * order. */
struct sg_joint {
    uint32_t local[SG_AUTOMATON_NODES_MAX];
    uint16_t budget, messages, accesses;
    uint32_t message[SG_JOINT_FLIGHTS_MAX];
    uint32_t access[SG_JOINT_FLIGHTS_MAX];
};

/* Faults of the messages that a step sends, and of timers. */
enum sg_joint_fault { SG_JOINT_NO_FAULT, SG_JOINT_LOST, SG_JOINT_TWICE, SG_JOINT_EARLY };

struct sg_joint_step {
    uint32_t letter;
    uint8_t endpoint;
    uint8_t fault; /* enum sg_joint_fault */
    uint16_t copy; /* LOST and TWICE: index of the affected letter among those sent */
};

static uint32_t pair_of(const struct sg_automaton *automaton, uint32_t letter)
{
    const struct sg_letter_facts *facts = sg_letter(automaton, letter);

    return (uint32_t)facts->from * SG_AUTOMATON_NODES_MAX + facts->to;
}

/* ---- steps ----------------------------------------------------------------------------------- */

struct list {
    struct sg_joint_step *steps;
    uint32_t count;
};

static void add(struct list *list, uint32_t endpoint, uint32_t letter, enum sg_joint_fault fault)
{
    if (list->count < SG_JOINT_STEPS_MAX)
        list->steps[list->count] = (struct sg_joint_step){
            .letter = letter, .endpoint = (uint8_t)endpoint, .fault = (uint8_t)fault};
    list->count++;
}

static void add_own(const struct sg_automaton *automaton, const struct sg_joint *joint,
                    uint32_t among, int only, enum sg_joint_fault fault, struct list *list)
{
    for (int32_t e = 0; e < automaton->world->endpoints_count; e++) {
        uint32_t own = automaton->local_facts[joint->local[e]].own & among;

        if (only >= 0 && e != only)
            continue;
        for (; own != 0; own &= own - 1)
            add(list, (uint32_t)e, (uint32_t)__builtin_ctz(own), fault);
    }
}

/* Lists the steps from a state, without faults except early timers (early: they are among the
 * faults). If no other step is possible timers fire, and *quiet is true. Returns the number of
 * steps; those beyond SG_JOINT_STEPS_MAX are not listed. */
static uint32_t sg_joint_steps(const struct sg_automaton *automaton, const struct sg_joint *joint,
                               bool early, struct sg_joint_step *steps, bool *quiet)
{
    struct list list = {steps, 0};

    for (uint32_t i = 0; i < joint->messages; i++) {
        uint32_t letter = joint->message[i];

        if (i == 0 || letter != joint->message[i - 1])
            add(&list, sg_letter(automaton, letter)->to, letter, SG_JOINT_NO_FAULT);
    }
    for (uint32_t i = 0; i < joint->accesses; i++) {
        uint32_t letter = joint->access[i];

        if (i == 0 || pair_of(automaton, letter) != pair_of(automaton, joint->access[i - 1]))
            add(&list, sg_letter(automaton, letter)->to, letter, SG_JOINT_NO_FAULT);
    }
    add_own(automaton, joint, ~SG_LETTERS_FIRE, -1, SG_JOINT_NO_FAULT, &list);
    *quiet = list.count == 0;
    if (*quiet)
        add_own(automaton, joint, SG_LETTERS_FIRE, -1, SG_JOINT_NO_FAULT, &list);
    else if (early && joint->budget > 0)
        add_own(automaton, joint, SG_LETTERS_FIRE, joint->budget - 1, SG_JOINT_EARLY, &list);
    return list.count;
}

/* ---- taking a step --------------------------------------------------------------------------- */

static void remove_from(uint32_t *list, uint16_t *count, uint32_t letter)
{
    uint32_t at = 0;

    while (list[at] != letter)
        at++;
    --*count;
    memmove(&list[at], &list[at + 1], (*count - at) * sizeof *list);
}

/* True if the letter stays within the world's limit on messages from one endpoint to another.
 * Timers raise the limit there but not here, because they fire one at a time. */
static bool within_queue(const struct sg_automaton *automaton, const struct sg_joint *joint,
                         uint32_t letter)
{
    const struct sg_letter_facts *facts = sg_letter(automaton, letter);
    uint32_t count = 0;

    for (uint32_t i = 0; i < joint->messages; i++) {
        const struct sg_letter_facts *other = sg_letter(automaton, joint->message[i]);

        count += other->kind == SG_FLIGHT_MESSAGE && other->from == facts->from &&
                 other->to == facts->to;
    }
    return facts->kind != SG_FLIGHT_MESSAGE || count < automaton->queue_limit;
}

static bool send(const struct sg_automaton *automaton, struct sg_joint *joint, uint32_t letter)
{
    bool access = sg_letter(automaton, letter)->kind == SG_FLIGHT_ACCESS;
    uint32_t *list = access ? joint->access : joint->message;
    uint16_t *count = access ? &joint->accesses : &joint->messages;
    uint32_t at = *count;

    if (at == SG_JOINT_FLIGHTS_MAX || !within_queue(automaton, joint, letter))
        return false;
    for (; at > 0 && (access ? pair_of(automaton, list[at - 1]) > pair_of(automaton, letter)
                             : list[at - 1] > letter);
         at--)
        list[at] = list[at - 1];
    list[at] = letter;
    ++*count;
    return true;
}

/* Takes a step whose move is known. False: too many letters are in flight. */
static bool sg_joint_take(const struct sg_automaton *automaton, struct sg_joint *joint,
                          const struct sg_joint_step *step, const struct sg_move *move)
{
    if (step->letter >= SG_LETTER_FLIGHTS) {
        if (sg_letter(automaton, step->letter)->kind == SG_FLIGHT_ACCESS)
            remove_from(joint->access, &joint->accesses, step->letter);
        else
            remove_from(joint->message, &joint->messages, step->letter);
    }
    joint->local[step->endpoint] = move->to;
    if (step->fault != SG_JOINT_NO_FAULT)
        joint->budget = 0;
    for (uint32_t i = 0; i < move->sent; i++) {
        bool struck = step->copy == i;
        uint32_t letter = automaton->sent[move->sent_at + i];

        if (struck && step->fault == SG_JOINT_LOST)
            continue;
        if (!send(automaton, joint, letter))
            return false;
        if (struck && step->fault == SG_JOINT_TWICE && !send(automaton, joint, letter))
            return false;
    }
    return true;
}

/* ---- comparing states ------------------------------------------------------------------------ */

static uint64_t sg_joint_key(const struct sg_joint *joint)
{
    uint64_t key = sg_intern_hash(0, joint->local, offsetof(struct sg_joint, messages));

    key = sg_intern_hash(key, joint->message, joint->messages * sizeof *joint->message);
    key = sg_intern_hash(key, joint->access, joint->accesses * sizeof *joint->access);
    return sg_hash_mix(key);
}

/* Copies only the elements in use. */
static void sg_joint_copy(struct sg_joint *to, const struct sg_joint *from)
{
    memcpy(to, from, offsetof(struct sg_joint, message));
    memcpy(to->message, from->message, from->messages * sizeof *from->message);
    memcpy(to->access, from->access, from->accesses * sizeof *from->access);
}

/* Maximum number of steps to the end: far above what any protocol needs. */
#define TRAIL_MAX 1024

struct frame {
    struct sg_joint joint;
    uint64_t key;
    uint32_t trail; /* number of steps that led here */
    uint32_t count, next;
    bool quiet; /* only timers can fire */
    struct sg_joint_step steps[SG_JOINT_STEPS_MAX];
};

struct trodden {
    uint32_t local; /* the endpoint's state before the step */
    struct sg_joint_step step;
};

struct reduced {
    struct sg_explore_world *world;
    struct sg_automaton automaton;
    struct sg_eager eager;
    struct sg_keys seen, done, ends; /* done: in complete walks */
    uint64_t transitions, ends_sum;
    uint32_t faults;   /* 1 << enum sg_explore_fault */
    uint32_t fault_at; /* 1 << endpoint: a fault is still possible there */
    uint32_t depth, trail_count;
    struct sg_joint joint; /* present state */
    struct trodden trail[TRAIL_MAX];
    struct frame frames[TRAIL_MAX + 1];
};

static bool well(const struct reduced *reduced)
{
    return reduced->world->violation[0] == '\0' && !reduced->automaton.no_memory;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The walk makes this move for the first time. */
static void note(struct reduced *reduced, uint32_t number)
{
    struct sg_move *move = &reduced->automaton.moves[number];
    const struct sg_local_facts *facts = reduced->automaton.local_facts;
    uint32_t spoils = 1u << SG_FAULT_LOSS | 1u << SG_FAULT_REPEAT;

    if ((move->multicasts && (reduced->faults & spoils)) ||
        ((facts[move->to].own & SG_LETTERS_FIRE) && (reduced->faults & 1u << SG_FAULT_TIMERS)))
        reduced->fault_at |= 1u << facts[move->local].endpoint;
    move->taken = true;
    sg_eager_see(&reduced->eager, number);
}

static bool take(struct reduced *reduced, const struct sg_joint_step *step)
{
    struct sg_automaton *automaton = &reduced->automaton;
    uint32_t local = reduced->joint.local[step->endpoint];
    uint32_t number = sg_automaton_move(automaton, local, step->letter);
    struct sg_move move;

    if (number == SG_INTERN_NONE)
        return false;
    if (reduced->trail_count == TRAIL_MAX) {
        sg_explore_violate(reduced->world, NULL, "more than %d steps to the end", TRAIL_MAX);
        return false;
    }
    reduced->trail[reduced->trail_count++] = (struct trodden){local, *step};
    reduced->transitions++;
    move = automaton->moves[number];
    if (move.to == SG_INTERN_NONE) {
        sg_automaton_show(automaton, local, step->letter);
        return false;
    }
    if (!move.taken)
        note(reduced, number);
    if (!sg_joint_take(automaton, &reduced->joint, step, &move))
        sg_explore_violate(reduced->world, &reduced->world->endpoints[step->endpoint],
                           "has too many messages in flight");
    return well(reduced);
}

/* Adds each step again with each fault that its multicasts may suffer. Returns their number. */
static uint32_t add_faults(struct reduced *reduced, struct sg_joint_step *steps, uint32_t count)
{
    struct sg_automaton *automaton = &reduced->automaton;
    const struct sg_joint *joint = &reduced->joint;
    uint32_t all = count;

    for (uint32_t i = 0; i < count && joint->budget > 0; i++) {
        struct sg_joint_step step = steps[i];
        const struct sg_move *move;
        uint32_t number;

        if (step.endpoint != joint->budget - 1 || step.fault != SG_JOINT_NO_FAULT)
            continue;
        number = sg_automaton_move(automaton, joint->local[step.endpoint], step.letter);
        move = number == SG_INTERN_NONE ? NULL : &automaton->moves[number];
        for (uint32_t copy = 0; move && move->multicasts && copy < move->sent; copy++) {
            if (!sg_letter(automaton, automaton->sent[move->sent_at + copy])->multicast)
                continue;
            step.copy = (uint16_t)copy;
            step.fault = SG_JOINT_LOST;
            if ((reduced->faults & 1u << SG_FAULT_LOSS) && all++ < SG_JOINT_STEPS_MAX)
                steps[all - 1] = step;
            step.fault = SG_JOINT_TWICE;
            if ((reduced->faults & 1u << SG_FAULT_REPEAT) && all++ < SG_JOINT_STEPS_MAX)
                steps[all - 1] = step;
        }
    }
    return all;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Keeps only an eager step, if there is one. */
static uint32_t pick_eager(struct reduced *reduced, struct sg_joint_step *steps, uint32_t count)
{
    const struct sg_joint *joint = &reduced->joint;
    bool timers = reduced->faults & 1u << SG_FAULT_TIMERS;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t move;

        if (steps[i].fault != SG_JOINT_NO_FAULT)
            continue;
        move = sg_automaton_move(&reduced->automaton, joint->local[steps[i].endpoint],
                                 steps[i].letter);
        if (move != SG_INTERN_NONE &&
            sg_eager_may(&reduced->eager, move, timers && joint->budget == steps[i].endpoint + 1)) {
            steps[0] = steps[i];
            return 1;
        }
    }
    return count;
}

/* Takes steps until several are possible, or none. Returns their number. */
static uint32_t settle(struct reduced *reduced, struct sg_joint_step *steps, bool *quiet)
{
    bool early = reduced->faults & 1u << SG_FAULT_TIMERS;
    uint32_t count;

    do {
        count = sg_joint_steps(&reduced->automaton, &reduced->joint, early, steps, quiet);
        if (!*quiet && count > 1 && count <= SG_JOINT_STEPS_MAX)
            count = pick_eager(reduced, steps, count);
        if (count <= SG_JOINT_STEPS_MAX)
            count = add_faults(reduced, steps, count);
        if (count > SG_JOINT_STEPS_MAX)
            sg_explore_violate(reduced->world, NULL, "more than %d steps are possible at once",
                               SG_JOINT_STEPS_MAX);
    } while (count == 1 && take(reduced, steps));
    return count;
}

/* No step is possible. */
static void end(struct reduced *reduced)
{
    struct sg_explore_world *world = reduced->world;
    uint64_t key;

    sg_automaton_load(&reduced->automaton, reduced->joint.local);
    key = sg_explore_key(world);
    if (sg_keys_add(&reduced->ends, key) == 1)
        reduced->ends_sum += sg_hash_mix(key);
    sg_explore_check_end(world);
}

/* If only timers can fire, fires them in turn; everything must then end soon. */
static void follow(struct reduced *reduced)
{
    uint32_t trail = reduced->trail_count, turn = 0, count;
    struct sg_joint_step steps[SG_JOINT_STEPS_MAX];
    struct sg_joint start;
    bool quiet;

    sg_joint_copy(&start, &reduced->joint);
    while ((count = sg_joint_steps(&reduced->automaton, &reduced->joint, false, steps, &quiet))) {
        if (!take(reduced, &steps[quiet ? turn++ % count : 0]))
            return;
    }
    sg_joint_copy(&reduced->joint, &start);
    reduced->trail_count = trail;
}

/* True if the path has the same state, without a timer in between: after a timer, another one could
 * have fired instead. */
static bool goes_on_for_ever(const struct reduced *reduced, uint64_t key)
{
    for (uint32_t i = reduced->depth; i > 0 && !reduced->frames[i - 1].quiet; i--) {
        if (reduced->frames[i - 1].key == key)
            return true;
    }
    return false;
}

static void push(struct reduced *reduced)
{
    struct frame *frame = &reduced->frames[reduced->depth];
    int fresh;

    frame->count = settle(reduced, frame->steps, &frame->quiet);
    if (!well(reduced))
        return;
    frame->key = sg_joint_key(&reduced->joint);
    fresh = sg_keys_has(&reduced->done, frame->key) ? 0 : sg_keys_add(&reduced->seen, frame->key);
    if (fresh < 0)
        reduced->automaton.no_memory = true;
    if (fresh == 0 && goes_on_for_ever(reduced, frame->key))
        sg_explore_violate(reduced->world, NULL, "can go on for ever");
    if (fresh <= 0)
        return;
    if (frame->count == 0) {
        end(reduced);
        return;
    }
    if (frame->quiet)
        follow(reduced);
    frame->next = 0;
    frame->trail = reduced->trail_count;
    sg_joint_copy(&frame->joint, &reduced->joint);
    reduced->depth++;
}

static void run(struct reduced *reduced, uint32_t budget)
{
    memset(&reduced->joint, 0, sizeof reduced->joint);
    memcpy(reduced->joint.local, reduced->automaton.first, sizeof reduced->joint.local);
    reduced->joint.budget = (uint16_t)budget;
    reduced->depth = reduced->trail_count = 0;
    push(reduced);
    while (reduced->depth > 0 && well(reduced)) {
        struct frame *frame = &reduced->frames[reduced->depth - 1];

        if (frame->next == frame->count) {
            reduced->depth--;
            continue;
        }
        sg_joint_copy(&reduced->joint, &frame->joint);
        reduced->trail_count = frame->trail;
        if (take(reduced, &frame->steps[frame->next++]))
            push(reduced);
    }
}

/* Repeats the walk until no claim is refuted after its use. The states of such a walk are complete,
 * even if other states refute claims later. */
static void walk_fully(struct reduced *reduced, uint32_t budget)
{
    do {
        sg_keys_clear(&reduced->seen);
        sg_eager_renew(&reduced->eager);
        run(reduced, budget);
    } while (reduced->eager.stale && well(reduced));
    if (!sg_keys_add_all(&reduced->done, &reduced->seen))
        reduced->automaton.no_memory = true;
}

static bool walk_all(void *of, uint32_t faults, struct sg_explore_counts *counts)
{
    struct reduced *reduced = of;

    reduced->faults = faults;
    reduced->fault_at = 0;
    reduced->transitions = reduced->ends_sum = 0;
    sg_keys_clear(&reduced->done);
    sg_keys_clear(&reduced->ends);
    sg_automaton_open(&reduced->automaton, reduced->world);
    sg_eager_open(&reduced->eager, &reduced->automaton);
    walk_fully(reduced, 0);
    for (uint32_t e = 0; e < SG_AUTOMATON_NODES_MAX && well(reduced); e++) {
        if (reduced->fault_at >> e & 1)
            walk_fully(reduced, e + 1);
    }
    *counts = (struct sg_explore_counts){
        .states = reduced->done.count,
        .steps = reduced->transitions,
        .ends = reduced->ends.count,
        .ends_sum = reduced->ends_sum,
    };
    return !reduced->automaton.no_memory;
}

/* Prints the fault of a step's message. */
static void show_fault(struct reduced *reduced, const struct trodden *trodden, FILE *out)
{
    struct sg_automaton *automaton = &reduced->automaton;
    uint32_t move = sg_automaton_move(automaton, trodden->local, trodden->step.letter);
    uint32_t letter = automaton->sent[automaton->moves[move].sent_at + trodden->step.copy];

    fprintf(out, "        %s to %d\n",
            trodden->step.fault == SG_JOINT_LOST ? "which is lost on its way" : "which goes twice",
            sg_letter(automaton, letter)->to);
}

static void show(void *of, FILE *out)
{
    struct reduced *reduced = of;
    struct sg_explore_world *world = reduced->world;

    world->trace = out;
    for (uint32_t i = 0; i < reduced->trail_count; i++) {
        const struct trodden *trodden = &reduced->trail[i];

        world->step = i;
        sg_automaton_show(&reduced->automaton, trodden->local, trodden->step.letter);
        if (trodden->step.fault == SG_JOINT_LOST || trodden->step.fault == SG_JOINT_TWICE)
            show_fault(reduced, trodden, out);
    }
    world->trace = NULL;
}

static void *create(struct sg_explore_world *world)
{
    struct reduced *reduced = calloc(1, sizeof *reduced);

    if (reduced)
        reduced->world = world;
    return reduced;
}

static void destroy(void *of)
{
    struct reduced *reduced = of;

    if (reduced == NULL)
        return;
    sg_eager_free(&reduced->eager);
    sg_automaton_free(&reduced->automaton);
    sg_keys_free(&reduced->seen);
    sg_keys_free(&reduced->done);
    sg_keys_free(&reduced->ends);
    free(reduced);
}

const struct sg_walk sg_walk_reduced = {create, destroy, walk_all, show};
