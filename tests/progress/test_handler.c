/* Tests how a signal handler touches clients on one machine and between machines: the real
 * progress runs over a client that only counts who looks at it. */
#include "progress/progress.h"

#include "core/clock.h"
#include "core/config.h"
#include "lib/unit.h"
#include "progress/progress_table.h"
#include "rule/rule.h"
#include "transport/transport.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define SIGNAL 42
enum { HERE, BETWEEN };

/* Offsets at which tests/progress/safety.sh finds the functions. */
_Static_assert(offsetof(struct sg_transport_ops, remote) == 16 &&
                   offsetof(struct sg_transport_ops, send) == 48 &&
                   sizeof(struct sg_transport_ops) == 88,
               "as safety.sh has it");
_Static_assert(offsetof(struct sg_progress_ops, poll) == 0, "as safety.sh has it");

/* By whom, as sg_progress_by has it. */
#define BYS (SG_PROGRESS_BY_SIGNAL + 1)
static _Atomic int looks[2][BYS];      /* by client */
static _Atomic int adapter_calls[BYS]; /* of a transport between machines */

/* ---- what progress needs of the rest --------------------------------------------------------- */

static struct sg_progress_client clients[2];
static struct sg_doorbell doorbells[2];

static _Atomic bool sets_timer; /* the next look of a thread does, of the client between machines */

static bool look(struct sg_progress_client *client)
{
    if (client == &clients[BETWEEN] && atomic_exchange(&sets_timer, false))
        atomic_store(&client->doorbell->next_timer_ns, sg_clock_ns() + 1000000);
    atomic_fetch_add(&looks[client - clients][sg_progress_by()], 1);
    return true;
}

static void do_nothing(struct sg_progress_client *client)
{
}

static const struct sg_progress_ops client_ops = {look, do_nothing, do_nothing};

static struct sg_progress_table *slots;

enum sg_status sg_progress_table_share(const struct sg_exchange *exchange, bool wired,
                                       struct sg_progress_table **table, uint32_t *own)
{
    *table = slots = calloc(1, sizeof **table + sizeof(struct sg_process_slot));
    *own = 0;
    return *table != NULL ? SG_OK : SG_ERR_MEMORY;
}

static void count_adapter(void)
{
    atomic_fetch_add(&adapter_calls[sg_progress_by()], 1);
}

static int told[2]; /* a pipe in the place of an adapter's descriptor */

static int adapter_descriptor(const struct sg_transport *transport)
{
    return told[0];
}

static void adapter_arm(struct sg_transport *transport)
{
    count_adapter();
}

static int adapter_take_events(struct sg_transport *transport)
{
    char event;

    count_adapter();
    return read(told[0], &event, 1) == 1;
}

static const struct sg_transport_remote_ops remote = {
    .descriptor = adapter_descriptor, .arm = adapter_arm, .take_events = adapter_take_events};

/* ---- the clients ----------------------------------------------------------------------------- */

static void set_up(struct sg_progress_client *client)
{
    client->ops = &client_ops;
    client->doorbell = &doorbells[client - clients];
    client->serves = true;
    atomic_store(&client->doorbell->outstanding, 1);
    ASSERT(sg_progress_add(client));
}

TEST("progress by signal and progress between machines start together")
{
    const struct sg_exchange exchange = {.rank = 0, .size = 1};
    const struct sg_config config = {0};
    struct sg_ruleset *rules;

    ASSERT(sg_ruleset_create(&config, false, &rules) == SG_OK,
           pipe2(told, O_NONBLOCK | O_CLOEXEC) == 0,
           sg_progress_start(&exchange, rules, true, SG_PROGRESS_SIGNAL, SIGNAL) == SG_OK);
    clients[BETWEEN].remote = &remote;
    set_up(&clients[HERE]);
    set_up(&clients[BETWEEN]);
    sg_ruleset_destroy(rules);
}

TEST("a signal handler does not touch a client that progresses between machines")
{
    sg_progress_arm(&clients[HERE], SG_PROGRESS_SIGNAL);
    EXPECT(raise(SIGNAL) == 0); /* handled when it returns */
    EXPECT(looks[HERE][SG_PROGRESS_BY_SIGNAL] == 1, looks[BETWEEN][SG_PROGRESS_BY_SIGNAL] == 0,
           adapter_calls[SG_PROGRESS_BY_SIGNAL] == 0);
}

TEST("once a call has left, a thread handles messages from other machines")
{
    EXPECT(sg_progress_arm(&clients[BETWEEN], SG_PROGRESS_THREAD),
           adapter_calls[SG_PROGRESS_BY_CALL] == 0);
    sg_progress_listen(&clients[BETWEEN]);
    EXPECT(adapter_calls[SG_PROGRESS_BY_CALL] > 0);
    int before = atomic_load(&looks[BETWEEN][SG_PROGRESS_BY_THREAD]);
    EXPECT(write(told[1], "", 1) == 1);
    while (atomic_load(&looks[BETWEEN][SG_PROGRESS_BY_THREAD]) == before)
        sched_yield();
    EXPECT(raise(SIGNAL) == 0, adapter_calls[SG_PROGRESS_BY_SIGNAL] == 0);
}

/* It has nothing to do at any time. */
static void put_helper_to_sleep(void)
{
    sg_progress_disarm(&clients[HERE]);
    sg_progress_ring_master(0);
    while (atomic_load(&slots->slots[0].rung) != 0 ||
           atomic_load(&slots->slots[0].wakes_ns) != UINT64_MAX)
        sched_yield();
}

/* The listener looks twice when it is told. Who goes on to look is the helper thread. */
TEST("the helper thread watches a timer that this thread sets")
{
    put_helper_to_sleep();
    EXPECT(sg_progress_arm(&clients[BETWEEN], SG_PROGRESS_THREAD));
    sg_progress_listen(&clients[BETWEEN]);
    atomic_store(&sets_timer, true);
    EXPECT(write(told[1], "", 1) == 1);
    while (atomic_load(&sets_timer))
        sched_yield();
    int before = atomic_load(&looks[BETWEEN][SG_PROGRESS_BY_THREAD]);
    while (atomic_load(&looks[BETWEEN][SG_PROGRESS_BY_THREAD]) < before + 9)
        sched_yield();
    atomic_store(&doorbells[BETWEEN].next_timer_ns, 0);
}

TEST("both clients end")
{
    for (int i = HERE; i <= BETWEEN; i++) {
        sg_progress_remove(&clients[i]);
    }
    sg_progress_stop();
    close(told[0]);
    close(told[1]);
}
