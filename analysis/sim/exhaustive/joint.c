#include "sim/exhaustive/joint.h"

#include <string.h>

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

uint32_t sg_joint_steps(const struct sg_automaton *automaton, const struct sg_joint *joint,
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

/* ---- taking one ------------------------------------------------------------------------------ */

static void remove_from(uint32_t *list, uint16_t *count, uint32_t letter)
{
    uint32_t at = 0;

    while (list[at] != letter)
        at++;
    --*count;
    memmove(&list[at], &list[at + 1], (*count - at) * sizeof *list);
}

/* At most as many messages from one endpoint to another as the world's check allows: timers add
 * none here, because they fire one at a time. */
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

bool sg_joint_take(const struct sg_automaton *automaton, struct sg_joint *joint,
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

uint64_t sg_joint_key(const struct sg_joint *joint)
{
    uint64_t key = sg_intern_hash(0, joint->local, offsetof(struct sg_joint, messages));

    key = sg_intern_hash(key, joint->message, joint->messages * sizeof *joint->message);
    key = sg_intern_hash(key, joint->access, joint->accesses * sizeof *joint->access);
    return sg_hash_mix(key);
}

void sg_joint_copy(struct sg_joint *to, const struct sg_joint *from)
{
    memcpy(to, from, offsetof(struct sg_joint, message));
    memcpy(to->message, from->message, from->messages * sizeof *from->message);
    memcpy(to->access, from->access, from->accesses * sizeof *from->access);
}
