/* Shared parts of the contract tests, for any transport: shared memory, numbered messages whose
 * header and payload follow from (from, to, number), and peers that exchange them at random. */
#ifndef SG_TESTS_TRANSPORT_WORLD_H
#define SG_TESTS_TRANSPORT_WORLD_H

#include "transport/transport.h"

#include <stdatomic.h>

#define WORLD_ENDPOINTS 5
#define WORLD_EAGER_BYTES 1500 /* most bytes of a numbered message */
#define WORLD_REGION_BYTES ((size_t)2 << 20)

struct world_case {
    const struct sg_transport_ops *ops;
    bool faulty;
    bool concurrent; /* threads and processes may be endpoints */
};

/* All transports that the program tests; ends with ops NULL. cases.c has them, and
 * tests/lab/contract.c those between machines, which take their time to send and may lose a
 * multicast. */
extern const struct world_case world_cases[];

static inline bool world_is_remote(const struct world_case *which)
{
    return which->ops->remote != NULL;
}

/* Returns the number of repetitions: fewer of what is slow on emulated hosts. */
static inline uint32_t world_times(const struct world_case *which, uint32_t times)
{
    return world_is_remote(which) ? (times + 19) / 20 : times;
}

#define WORLD_FOR_EACH(which)                                                                      \
    for (const struct world_case *which = world_cases; which->ops != NULL; which++)
#define WORLD_FOR_EACH_CONCURRENT(which) WORLD_FOR_EACH(which) if (which->concurrent)

struct world {
    const struct world_case *which;
    struct sg_transport_setup setup;
    size_t bytes;
    int file;              /* the memory as a memfd */
    unsigned char *shared; /* the transport's bytes, then WORLD_REGION_BYTES that access may name */
    struct sg_transport *transport;
    /* Messages sent by world_send, and not yet received by world_receive. */
    _Atomic uint32_t due[WORLD_ENDPOINTS], due_multicasts[WORLD_ENDPOINTS];
};

/* Aborts the test program on failure. The world keeps its address until closed. */
void world_open(struct world *world, const struct world_case *which, uint32_t inflight,
                uint32_t staged, uint32_t eager_bytes);
/* In a forked process: maps the memory at another address and unmaps the inherited mapping. */
void world_reopen(struct world *world);
void world_close(struct world *world);

/* Names the transport and fails the running test if the condition does not hold. */
#define WORLD_CHECK(world, condition)                                                              \
    world_check((world), (condition), __FILE__, __LINE__, #condition)
bool world_check(const struct world *world, bool condition, const char *file, unsigned line,
                 const char *text);

uint32_t world_random(uint64_t *random, uint32_t limit);

/* ---- numbered messages ----------------------------------------------------------------------- */

/* payload: false for those that carry none, whatever their number. */
enum sg_transport_result world_send(struct world *world, int self, int to, uint32_t number,
                                    bool payload);
/* Returns the bytes of all its parts together. */
uint32_t world_bytes(int from, int to, uint32_t number);
/* Receives the next message for self. Waits for messages that world_send has sent and nobody has
 * received. False: there are no more, except multicasts that a transport has lost. */
bool world_receive(struct world *world, int self, struct sg_transport_message *out);
/* True if nothing is there for self, and nothing has been sent. */
bool world_is_quiet(struct world *world, int self);
/* Returns when the access is done: a REPLY's value is there, and others see what was written. */
void world_access(struct world *world, int self, const struct sg_action *action,
                  const struct sg_transport_region *region, void *local, uint64_t value[8]);
/* Returns zeroed slots and cells in memory that access may name, the same for all endpoints of a
 * machine. If each endpoint has its machine, they are the endpoint's own. */
struct sg_transport_region world_region(struct world *world, uint32_t slot_bytes,
                                        uint32_t slots_count, uint32_t cells_count);
/* True if the message is, bit for bit, the one that its sender sent under its number. */
bool world_is_whole(const struct sg_transport_message *message, int self);

/* ---- peers ----------------------------------------------------------------------------------- */

#define PEER_HELD 3
#define PEER_NUMBERS 4096

/* An endpoint that sends `count` messages to each, itself included, and `multicasts` multicasts,
 * and is to receive as many. */
struct peer {
    struct world *world;
    int self;
    uint32_t count, multicasts;
    bool alone; /* nobody else runs: pending() can be compared with what receive finds */
    uint64_t random;
    uint32_t next[WORLD_ENDPOINTS], next_multicast, received, refused;
    struct sg_transport_message held[PEER_HELD];
    int held_count;
    uint8_t seen[WORLD_ENDPOINTS][PEER_NUMBERS], multicasts_seen[WORLD_ENDPOINTS][PEER_NUMBERS];
    uint32_t multicasts_received, wrong; /* torn, twice, out of range */
};

void peer_init(struct peer *peer, struct world *world, int self, uint32_t count,
               uint32_t multicasts, uint64_t seed);
/* Takes one step. True: the peer has finished its work. */
bool peer_step(struct peer *peer);

#endif
