/* A whole small scenario: the states of its automata and the letters in flight between them. */
#ifndef SG_SIM_EXHAUSTIVE_JOINT_H
#define SG_SIM_EXHAUSTIVE_JOINT_H

#include "sim/exhaustive/automaton.h"

#define SG_JOINT_FLIGHTS_MAX 96
#define SG_JOINT_STEPS_MAX 256

/* `budget`: 1 + the endpoint at which the one fault may still happen; 0: nowhere. Messages and
 * replies are sorted by number; accesses by initiator and target, and for the same two in their
 * order. */
struct sg_joint {
    uint32_t local[SG_AUTOMATON_NODES_MAX];
    uint16_t budget, messages, accesses;
    uint32_t message[SG_JOINT_FLIGHTS_MAX];
    uint32_t access[SG_JOINT_FLIGHTS_MAX];
};

/* What happens to the messages that a step sends. */
enum sg_joint_fault { SG_JOINT_NO_FAULT, SG_JOINT_LOST, SG_JOINT_TWICE, SG_JOINT_EARLY };

struct sg_joint_step {
    uint32_t letter;
    uint8_t endpoint;
    uint8_t fault; /* enum sg_joint_fault */
    uint16_t copy; /* LOST and TWICE: to which of the letters sent */
};

/* The steps from a state, without faults except early timers (early: they are among the faults). If
 * nothing else is possible timers fire, and *quiet is true. Returns the number of steps; beyond
 * SG_JOINT_STEPS_MAX they are not listed. */
uint32_t sg_joint_steps(const struct sg_automaton *automaton, const struct sg_joint *joint,
                        bool early, struct sg_joint_step *steps, bool *quiet);

/* Takes a step whose move is known. False: too much is in flight. */
bool sg_joint_take(const struct sg_automaton *automaton, struct sg_joint *joint,
                   const struct sg_joint_step *step, const struct sg_move *move);

uint64_t sg_joint_key(const struct sg_joint *joint);

/* Only what is used. */
void sg_joint_copy(struct sg_joint *to, const struct sg_joint *from);

#endif
