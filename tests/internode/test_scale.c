/* Counts the set-up of one rank of a communicator between machines, and its first calls: executed
 * basic blocks, of which the compiler tells, and bytes of private memory.
 * The transport is `verbs` on a simulated adapter. The other ranks exist only in what the exchange
 * says of them: they have as much as this rank, and they are silent. */
#include "core/exchange.h"
#include "internode/auto_between.h"
#include "internode/chunk.h"
#include "internode/connect.h"
#include "lib/unit.h"
#include "mpi/real.h"
#include "transport/verbs/verbs.h"
#include "transport/verbs/verbs_state.h"

#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FEW = 1000,
    MANY = 100000,
    KIB_AT = 10000,
    MOST_KIB = 64,
    RANKS = 5,
    EACH = 16,
    FIRST = 1000
};

/* ---- counting: what the Makefile compiles for it, in build/counted --------------------------- */

static uint64_t blocks;
static size_t held_bytes, most_bytes;

/* A look, and fewer blocks than this, are a turn of a loop that waits for the adapter, which is a
 * thread: such turns are not counted. */
#define BLOCKS_OF_WAIT 32

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    blocks++;
}

void *counted_malloc(size_t bytes);
void *counted_calloc(size_t count, size_t bytes);
void *counted_realloc(void *memory, size_t bytes);
void *counted_aligned_alloc(size_t alignment, size_t bytes);
void counted_free(void *memory);

int counted_sched_yield(void);

int counted_sched_yield(void)
{
    static uint64_t last;

    if (blocks - last < BLOCKS_OF_WAIT)
        blocks = last;
    last = blocks;
    return sched_yield();
}

static void *keep(void *memory)
{
    held_bytes += malloc_usable_size(memory);
    most_bytes = held_bytes > most_bytes ? held_bytes : most_bytes;
    return memory;
}

void *counted_malloc(size_t bytes)
{
    return keep(malloc(bytes));
}

void *counted_calloc(size_t count, size_t bytes)
{
    return keep(calloc(count, bytes));
}

void *counted_realloc(void *memory, size_t bytes)
{
    held_bytes -= malloc_usable_size(memory);
    return keep(realloc(memory, bytes));
}

void *counted_aligned_alloc(size_t alignment, size_t bytes)
{
    return keep(aligned_alloc(alignment, bytes));
}

void counted_free(void *memory)
{
    held_bytes -= malloc_usable_size(memory);
    free(memory);
}

/* ---- the segment, which ranks of a machine share: not counted -------------------------------- */

enum sg_status counted_sg_memory_create(size_t size_bytes, const char *what, void **segment,
                                        struct sg_segment_ticket *ticket);
void counted_sg_memory_free(void *segment, size_t size_bytes, bool is_maker);

enum sg_status counted_sg_memory_create(size_t size_bytes, const char *what, void **segment,
                                        struct sg_segment_ticket *ticket)
{
    *segment = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT(*segment != MAP_FAILED);
    *ticket = (struct sg_segment_ticket){.size_bytes = size_bytes, .nonce = 1};
    return SG_OK;
}

void counted_sg_memory_free(void *segment, size_t size_bytes, bool is_maker)
{
    munmap(segment, size_bytes);
}

/* ---- the other ranks ------------------------------------------------------------------------- */

static int trades; /* ranks that this one has traded with */

static enum sg_status combine(void *context, enum sg_combination how, uint64_t *values, int count)
{
    if (how == SG_COMBINE_SUM)
        memset(values, 0, (size_t)count * sizeof *values);
    return SG_OK;
}

/* The other end of each queue pair is itself, but a channel's messages go to a ring that nobody
 * reads. */
static enum sg_status trade(void *context, const int *with, int count, const void *own,
                            void *theirs, size_t size_bytes)
{
    struct sg_verbs_ticket *tickets = theirs;

    ASSERT(size_bytes == sizeof *tickets);
    memcpy(theirs, own, (size_t)count * size_bytes);
    for (int i = 0; i < count; i++)
        tickets[i].channel = *(const uint32_t *)context;
    trades += count;
    return SG_OK;
}

static enum sg_status broadcast(void *context, void *data, size_t bytes)
{
    return SG_OK;
}

static const char *host_of(const struct sg_exchange *exchange, int rank)
{
    return "host";
}

/* ---- one rank -------------------------------------------------------------------------------- */

extern const struct sg_verbs sg_verbs;

static struct sg_exchange exchange;
static struct sg_ruleset *rules;
static uint32_t unread;

static void use_rules(const char *algorithm)
{
    static char source[] = "test";
    char text[64];
    struct sg_config_rule rule = {SG_CONFIG_RULE_RULES, source, source, text};
    struct sg_config config = {.rules = &rule, .rule_count = 1};

    snprintf(text, sizeof text, "*=%s", algorithm);
    ASSERT(sg_ruleset_create(&config, true, &rules) == SG_OK);
}

/* True if the rank's protocol exists at this number of nodes. */
static bool set_up(int rank, int nodes, int each, struct sg_internode **out)
{
    struct sg_group_run rank_run = {.width = each}, node_run = {.width = 1};
    struct sg_grouping by_endpoint = {nodes * each, nodes, each, true, 1, &rank_run};
    struct sg_grouping by_machine = {nodes, nodes, 1, true, 1, &node_run};
    struct sg_internode_setup setup = {.name = "",
                                       .called = "",
                                       .rank = rank,
                                       .ranks = nodes * each,
                                       .by_endpoint = &by_endpoint,
                                       .by_machine = &by_machine,
                                       .rules = rules,
                                       .messages_rule = -1,
                                       .ops = sg_verbs.ops,
                                       .exchange = &exchange,
                                       .host_of = host_of};
    struct sg_segment_ticket ticket;

    unread = (uint32_t)sg_transport_peers_max(nodes) + 5;
    exchange = (struct sg_exchange){.rank = rank,
                                    .size = nodes * each,
                                    .context = &unread,
                                    .broadcast = broadcast,
                                    .combine = combine,
                                    .trade = trade};
    if (sg_internode_offer(&setup, out, &ticket) != SG_OK)
        return false;
    ASSERT(sg_internode_link(*out) == SG_OK);
    return true;
}

/* The adapter still reads and writes the segment until it has carried out all requests. */
static void free_settled(struct sg_internode *internode)
{
    struct sg_transport *transport = internode->transport;

    internode->remote->probe(transport);
    while (transport->open > 0 || transport->awaited > 0) {
        internode->remote->settled(transport);
        sched_yield();
    }
    ASSERT(!transport->has_failed);
    sg_internode_free(internode);
}

struct totals {
    uint64_t set_up, connect, call; /* blocks, the most of any rank */
    size_t bytes;                   /* likewise */
    int trades, calls;
};

static uint64_t most(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

/* The first call, as far as it goes without the other ranks. */
static void call(struct sg_internode *internode, enum sg_operation operation, int root,
                 struct totals *totals)
{
    double operand = 1, result = 0;
    struct sg_call what = {.operation = operation,
                           .root = root,
                           .count = 1,
                           .bytes = operation == SG_OPERATION_BARRIER ? 0 : sizeof operand};
    struct sg_internode_plan plan = {
        .call = &what,
        .count = 1,
        .commutes = true,
        .operands = {SG_REDUCTION_SUM, SG_ELEMENT_DOUBLE,
                     sg_kernel_find(SG_REDUCTION_SUM, SG_ELEMENT_DOUBLE), NULL}};
    struct sg_chunk chunk;
    struct sg_chunk_window window = {.plan = &plan, .count = 1, .width = 1, .chunks = &chunk};
    bool is_root = internode->rank == root;

    if (operation != SG_OPERATION_BARRIER && (operation != SG_OPERATION_BCAST || is_root))
        plan.own = &operand;
    if (operation == SG_OPERATION_ALLREDUCE ||
        (root >= 0 && is_root == (operation == SG_OPERATION_REDUCE)))
        plan.result = &result;
    blocks = 0;
    sg_chunk_plan(internode, &plan);
    sg_chunk_window_begin(internode, &window);
    for (int step = 0; step < 3; step++)
        sg_chunk_window_step(internode, &window);
    totals->call = most(totals->call, blocks);
    totals->calls++;
}

/* Sets up a rank, connects some roots, and calls with the last of them. */
static void add(int rank, int nodes, enum sg_operation operation, struct totals *totals)
{
    const int roots[] = {0, 1, nodes / 3, nodes - 1, rank};
    int last = sg_operation_has_root(operation) ? (int)(sizeof roots / sizeof *roots) - 1 : 0;
    struct sg_internode *internode;
    bool reaches = false;

    held_bytes = most_bytes = blocks = 0;
    trades = 0;
    if (!set_up(rank, nodes, 1, &internode))
        return;
    totals->set_up = most(totals->set_up, blocks);
    for (int i = 0; i <= last; i++) {
        blocks = 0;
        reaches = sg_internode_reaches(internode, 0, last > 0 ? roots[i] : -1, true);
        totals->connect = most(totals->connect, blocks);
    }
    if (reaches && (internode->protocols[0].algo->operations & 1u << operation) != 0)
        call(internode, operation, last > 0 ? roots[last] : -1, totals);
    totals->trades = trades > totals->trades ? trades : totals->trades;
    totals->bytes = most_bytes > totals->bytes ? most_bytes : totals->bytes;
    free_settled(internode);
    EXPECT(held_bytes == 0);
}

static struct totals count(enum sg_operation operation, int nodes)
{
    const int ranks[RANKS] = {0, 1, nodes / 2, nodes / 3, nodes - 1};
    struct totals totals = {0};

    for (int i = 0; i < RANKS; i++)
        add(ranks[i], nodes, operation, &totals);
    return totals;
}

static void start(void)
{
    static const struct sg_verbs_settings settings = {.device = "",
                                                      .port = -1,
                                                      .gid_index = -1,
                                                      .partition = -1,
                                                      .mtu = -1,
                                                      .memory_bytes = UINT64_MAX};
    static bool has_started;
    const char *reason = NULL;
    char wire[] = "/tmp/stagger-scale-XXXXXX";
    int file;

    if (has_started)
        return;
    has_started = true;
    file = mkstemp(wire);
    ASSERT(file >= 0);
    close(file);
    setenv("STANDIN", wire, 1);
    ASSERT(sg_verbs.start(&settings, NULL, &reason));
    unlink(wire);
    sg_internode_start(8, 0, 64, false);
    /* As if all rings had been round. */
    sg_internode_count_from(FIRST);
}

static void each_algorithm(void (*check)(const struct sg_algo *algo, enum sg_operation operation))
{
    start();
    for (int i = 0; sg_algos[i] != NULL; i++) {
        use_rules(sg_algos[i]->name);
        for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
            if (sg_algos[i]->operations & 1u << operation)
                check(sg_algos[i], (enum sg_operation)operation);
        }
        sg_ruleset_destroy(rules);
    }
}

/* The logarithms are 10 and 17. */
static bool is_logarithmic(uint64_t few, uint64_t many)
{
    return many <= 2 * few;
}

static void check_growth(const struct sg_algo *algo, enum sg_operation operation)
{
    const struct sg_algo_setup setup = {.size = MANY};
    struct sg_algo_needs needs;
    int most_nodes = algo->needs(&setup, &needs) ? MANY : 1 << 16;
    struct totals few = count(operation, FEW), many = count(operation, most_nodes);

    EXPECT(is_logarithmic(few.set_up, many.set_up), is_logarithmic(few.connect, many.connect),
           is_logarithmic(few.call, many.call),
           is_logarithmic((uint64_t)few.trades, (uint64_t)many.trades),
           many.calls == RANKS || algo == &sg_algo_handoff);
    printf("# %s %s: set-up %llu %llu, roots %llu %llu, call %llu %llu, trades %d %d, calls %d\n",
           algo->name, sg_operation_names[operation], (unsigned long long)few.set_up,
           (unsigned long long)many.set_up, (unsigned long long)few.connect,
           (unsigned long long)many.connect, (unsigned long long)few.call,
           (unsigned long long)many.call, few.trades, many.trades, many.calls);
}

TEST("set-up and the first calls grow as the logarithm of the nodes up to 100 000")
{
    each_algorithm(check_growth);
}

static uint64_t set_up_of_several(int nodes)
{
    struct sg_internode *internode;
    uint64_t total;

    blocks = 0;
    if (!set_up(nodes * EACH / 2, nodes, EACH, &internode))
        return UINT64_MAX;
    total = blocks;
    free_settled(internode);
    return total;
}

TEST("so does the set-up of nodes of several ranks")
{
    uint64_t few, many;

    start();
    use_rules("adaptive");
    few = set_up_of_several(FEW);
    many = set_up_of_several(MANY);
    EXPECT(few > 0 && many < UINT64_MAX && is_logarithmic(few, many));
    sg_ruleset_destroy(rules);
}

static void check_bytes(const struct sg_algo *algo, enum sg_operation operation)
{
    struct totals totals = count(operation, KIB_AT);

    EXPECT(totals.bytes <= MOST_KIB * 1024);
    printf("# %s %s: %zu bytes\n", algo->name, sg_operation_names[operation], totals.bytes);
}

TEST("a rank's private memory for a communicator of 10 000 is at most 64 KiB")
{
    each_algorithm(check_bytes);
}

/* ---- auto ------------------------------------------------------------------------------------ */

#define CALLS 1000

static int add_nothing(const void *own, void *all, int count, MPI_Datatype type, MPI_Op op,
                       MPI_Comm comm, MPI_Request *request)
{
    memcpy(all, own, (size_t)count * sizeof(uint64_t));
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* One call's choice and the count of its cost. */
static void choose(struct sg_internode *internode, enum sg_operation operation, uint64_t bytes,
                   struct totals *totals)
{
    const struct sg_rule_comm comm = {
        .name = "", .size = internode->ranks, .reach = SG_REACH_INTERNODE};
    const struct sg_call what = {.operation = operation, .bytes = bytes};
    bool fixed;
    const struct sg_choice *rule = sg_ruleset_match(rules, operation, NULL, &comm, bytes, &fixed);

    ASSERT(rule->algorithm == SG_ALGORITHM_AUTO);
    blocks = 0;
    sg_internode_begin_turn(internode, &what, rule);
    sg_internode_end_turn(internode, &(struct sg_call_statistics){0});
    totals->call = most(totals->call, blocks);
}

/* A rank learns in all slots. Not rank 0, which also writes the results to its log. */
static struct totals learn(int nodes)
{
    static const uint64_t bytes[] = {8, 2000, 10000};
    struct sg_internode *internode;
    struct totals totals = {0};

    held_bytes = most_bytes = blocks = 0;
    if (!set_up(nodes / 2, nodes, 1, &internode))
        return (struct totals){.bytes = SIZE_MAX};
    totals.set_up = blocks;
    for (int i = 0; i < CALLS; i++) {
        for (int operation = 0; operation < SG_OPERATION_COUNT; operation++) {
            for (size_t size = 0; size < sizeof bytes / sizeof *bytes; size++)
                choose(internode, (enum sg_operation)operation, bytes[size], &totals);
        }
    }
    totals.bytes = most_bytes;
    free_settled(internode);
    EXPECT(held_bytes == 0);
    return totals;
}

TEST("with auto on 100 000 nodes set-up and the calls are logarithmic; a rank of 10 000 has 64 KiB")
{
    struct totals few, many, some;

    start();
    use_rules("auto(block=2,hold=16)");
    sg_real.Iallreduce = add_nothing;
    few = learn(FEW);
    many = learn(MANY);
    some = learn(KIB_AT);
    EXPECT(is_logarithmic(few.set_up, many.set_up), is_logarithmic(few.call, many.call),
           some.bytes <= MOST_KIB * 1024);
    printf("# auto: set-up %llu %llu, call %llu %llu, %zu bytes\n", (unsigned long long)few.set_up,
           (unsigned long long)many.set_up, (unsigned long long)few.call,
           (unsigned long long)many.call, some.bytes);
    sg_ruleset_destroy(rules);
}
