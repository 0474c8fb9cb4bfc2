/* The doorbell's far ends on the real progress, with stand-ins for endpoints (rings.h). */
#include "weak/rings.h"

#include "mpi/real.h"
#include "progress/adapter.h"
#include "progress/mode.h"
#include "progress/signal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS 2
#define MESSAGES 3

static _Alignas(64) unsigned char cells[4096];
static struct sg_doorbell doorbells[CLIENTS];
static struct sg_progress_client clients[CLIENTS];
/* messages: 1 + the client it is for. */
static _Atomic uint32_t messages[MESSAGES], seen[MESSAGES];

/* The number of this process's cell. */
#define OWN 1u

/* ---- the endpoint ---- */

/* The loads acquire, as a transport's do, and no more. */
static bool look(struct sg_progress_client *client)
{
    bool has_seen = false;

    if (!client->serves)
        return false;
    for (int number = 0; number < MESSAGES; number++) {
        if (atomic_load_explicit(&messages[number], memory_order_acquire) ==
            (uint32_t)(client - clients) + 1) {
            atomic_store_explicit(&seen[number], 1, memory_order_relaxed);
            has_seen = true;
        }
    }
    atomic_thread_fence(memory_order_seq_cst);
    return has_seen;
}

/* The last step of a visit reads the client without any order of its own. */
static void read_client(struct sg_progress_client *client)
{
    if (!client->serves)
        abort();
}

static const struct sg_progress_ops ops = {look, read_client, read_client};

static void make_client(int number)
{
    memset(&doorbells[number], 0, sizeof doorbells[number]);
    doorbells[number].outstanding = 1;
    memset(&clients[number], 0, sizeof clients[number]);
    clients[number].ops = &ops;
    clients[number].doorbell = &doorbells[number];
    clients[number].serves = true;
}

void rings_set_up(int count, enum sg_progress_mode armed)
{
    ((struct sg_progress_table *)cells)->warned = 1;
    sg_progress_start(NULL, rings_rules(), false, SG_PROGRESS_SIGNAL, SIGRTMIN + 4);
    for (int which = 0; which < count; which++) {
        make_client(which);
        sg_progress_add(&clients[which]);
        if (armed == SG_PROGRESS_SIGNAL) {
            sg_progress_signal_install();
            sg_progress_signal_expect();
        }
        if (armed != SG_PROGRESS_POLL)
            doorbells[which].armed = (uint32_t)armed | OWN << 2;
    }
}

void rings_start_helper(void)
{
    sg_progress_mode_thread();
}

void rings_start_handler(void)
{
    weak_start_handler();
}

void rings_start_signals(void)
{
    sg_progress_mode_ready(SG_PROGRESS_SIGNAL, false);
}

static void applications(int signal)
{
    (void)signal;
}

void rings_take_signal(void)
{
    struct sigaction theirs = {.sa_handler = applications};

    sigaction(SIGRTMIN + 4, &theirs, NULL);
}

/* ---- what threads do ---- */

void rings_send(int number, int which)
{
    atomic_store_explicit(&messages[number], (uint32_t)which + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&doorbells[which].inside, memory_order_acquire) == 0)
        sg_progress_ring(&doorbells[which]);
}

void rings_enter(int which)
{
    atomic_fetch_add(&doorbells[which].inside, 1);
    sg_progress_disarm(&clients[which]);
}

void rings_leave(int which, enum sg_progress_mode asked)
{
    bool is_left = false;

    sg_progress_arm(&clients[which], asked);
    atomic_fetch_sub(&doorbells[which].inside, 1);
    /* As the way out of a call. */
    for (int number = 0; number < MESSAGES; number++)
        is_left = is_left || atomic_load(&messages[number]) != 0;
    if (is_left)
        look(&clients[which]);
    sg_progress_left(&clients[which]);
}

void rings_add(int which)
{
    make_client(which);
    sg_progress_add(&clients[which]);
}

void rings_remove(int which)
{
    sg_progress_remove(&clients[which]);
    clients[which].serves = false;
    clients[which].remote = NULL;
}

void rings_poll(void)
{
    sg_progress_poll();
}

void rings_stop(void)
{
    sg_progress_stop();
}

void rings_check(int count)
{
    for (int number = 0; number < count; number++)
        WEAK_CHECK(seen[number] == 1);
}

/* ---- what progress has beside ---- */

struct sg_real sg_real;

enum sg_status sg_progress_table_share(const struct sg_exchange *exchange, bool wired,
                                       struct sg_progress_table **out, uint32_t *own)
{
    *out = (struct sg_progress_table *)cells;
    *own = OWN;
    return SG_OK;
}

void sg_progress_adapter_stop(void)
{
}

/* Not called: one machine. */
#define NOT_CALLED(type, name, ...)                                                                \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        __builtin_trap();                                                                          \
    }

NOT_CALLED(bool, sg_progress_adapter_start, void (*when_told)(void))
NOT_CALLED(void, sg_progress_adapter_arm, struct sg_progress_client *client)
NOT_CALLED(void, sg_progress_adapter_remove, struct sg_progress_client *client)
