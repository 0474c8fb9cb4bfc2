/* The endpoints of a small scenario as automata, for reduced.c. A step changes one endpoint and
 * sends, and does nothing else. So its effect depends only on the endpoint's state and on the input
 * that it takes, its letter, and is computed once. States and letters are numbers here.
 *
 * An endpoint's state has everything that the world stores for it and its process, including
 * buffers, and for each other endpoint the number of calls that it can know of. The world checks
 * that no process leaves before all have entered; the automaton's check is stricter: the others
 * must have called, and this endpoint must have been able to learn of it, so that no equivalent
 * order has the exit first. */
#ifndef SG_VERIFY_AUTOMATON_H
#define SG_VERIFY_AUTOMATON_H

#include "verify/intern.h"
#include "verify/steps.h"

#include <stdbool.h>
#include <stdint.h>

/* A set of 64-bit keys, optionally numbered in the order of insertion. Starts zeroed. */
struct sg_keys {
    uint64_t *keys;           /* 0: empty slot */
    uint32_t *numbers;        /* by slot; only in a numbered set */
    uint64_t count, capacity; /* capacity: a power of two, at least twice the count */
    bool numbered;            /* set before the first insertion */
};

/* Returns 1 if the key is new, 0 if not, -1 when memory runs out. */
int sg_keys_add(struct sg_keys *keys, uint64_t key);
bool sg_keys_has(const struct sg_keys *keys, uint64_t key);
/* Adds the keys of another set. False when memory runs out. */
bool sg_keys_add_all(struct sg_keys *keys, const struct sg_keys *other);
/* Removes all keys and keeps the memory. */
void sg_keys_clear(struct sg_keys *keys);
void sg_keys_free(struct sg_keys *keys);

#define SG_AUTOMATON_NODES_MAX 4

/* An endpoint's own letters; letters from SG_LETTER_FLIGHTS on are flights. */
enum {
    SG_LETTER_CALL,
    SG_LETTER_DRAIN,
    SG_LETTER_NOTICE, /* watch 0; the next ones follow */
    SG_LETTER_FIRE = SG_LETTER_NOTICE + SG_TIMERS,
    SG_LETTER_FLIGHTS = SG_LETTER_FIRE + SG_TIMERS
};

#define SG_LETTERS_FIRE (((1u << SG_TIMERS) - 1) << SG_LETTER_FIRE)

/* Properties of a letter, cached so that its flight need not be looked up. */
struct sg_letter_facts {
    uint8_t kind; /* enum sg_flight_kind */
    uint8_t from, to;
    uint8_t known; /* number of `to`'s calls that its sender knew of */
    bool multicast;
};

struct sg_local_facts {
    uint8_t endpoint, calls;
    uint16_t own; /* 1 << letter: its own letters that are possible; FIRE: a timer is set */
};

/* The effect of an endpoint's taking a letter. */
struct sg_move {
    uint32_t to; /* SG_INTERN_NONE: a violation */
    uint32_t sent_at;
    uint16_t sent; /* number of letters sent */
    bool multicasts;
    bool taken, seen; /* by a walk; seen: see eager.h */
    uint32_t local, letter;
};

/* Starts zeroed. */
struct sg_automaton {
    struct sg_explore_world *world;
    uint32_t queue_limit; /* maximum number of messages in flight from one endpoint to another */
    uint32_t first[SG_AUTOMATON_NODES_MAX];
    struct sg_intern locals, letters;
    struct sg_keys numbers; /* numbers of moves, keyed by state and letter */
    struct sg_local_facts *local_facts;
    struct sg_letter_facts *letter_facts; /* indexed from SG_LETTER_FLIGHTS */
    struct sg_move *moves;
    uint32_t *sent;
    uint32_t local_capacity, letter_capacity, moves_capacity, sent_count, sent_capacity;
    unsigned char *text; /* buffer in which a state is assembled */
    uint32_t text_capacity;
    bool no_memory;
};

/* Starts with the world's scenario, which has just been opened; forgets the previous one. */
void sg_automaton_open(struct sg_automaton *automaton, struct sg_explore_world *world);
void sg_automaton_free(struct sg_automaton *automaton);
/* Returns the index in moves; the element is valid until the next call. SG_INTERN_NONE: no_memory
 * is set. */
uint32_t sg_automaton_move(struct sg_automaton *automaton, uint32_t local, uint32_t letter);
/* Repeats the move in the world, with its trace and its violation. */
void sg_automaton_show(struct sg_automaton *automaton, uint32_t local, uint32_t letter);
/* Loads the endpoints' states into the world, with nothing in flight. */
void sg_automaton_load(struct sg_automaton *automaton, const uint32_t *locals);

static inline const struct sg_letter_facts *sg_letter(const struct sg_automaton *automaton,
                                                      uint32_t letter)
{
    return &automaton->letter_facts[letter - SG_LETTER_FLIGHTS];
}

#endif
