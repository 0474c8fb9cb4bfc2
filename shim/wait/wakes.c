#include "wait/wakes.h"

#include "core/clock.h"
#include "core/hash.h"
#include "wait/processors.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* At fewer ranks for each processor, yields suffice (wait.c). */
#define CROWD_MIN 8
/* Iterations without events before a sleep: in each MPICH may start what the last one allows. */
#define SPINS 4u
/* Ranks that run at a time, beyond the processors: one falls asleep while the next wakes up. */
#define SPARE 1
/* Ranks that have not passed on for so long may be computing: others are woken nevertheless. */
#define STALE_NS UINT64_C(1000000)
/* Sleeps between looks at the processors. */
#define SLEEPS_PER_LOOK 64u
/* Limits of a sleep: for each rank of a processor, as all timers together may take a few percent of
 * it; of all; and of a rank that also waits for processes that do not wake it. */
#define SLEEP_NS UINT64_C(250000)
#define SLEEP_MAX_NS UINT64_C(50000000)
#define STRANGERS_SLEEP_NS UINT64_C(80000)
/* Capacity for unfinished sends: the receivers of further ones are not asked. */
#define REQUESTS 1024u
#define BITS 64

/* A rank's word. MAIL: asleep, and something has come that it may wait for. */
enum { AWAKE, ASLEEP, MAIL };

struct slot {
    struct sg_wakes_key key;
    _Alignas(64) _Atomic uint64_t askers[]; /* bits by number */
};

/* Words, bits, mails and batons are sequentially consistent where a comment does not say why less
 * is enough: each rank changes one of them and then reads another, and of two ranks that do so at
 * least one sees the other's change. */
struct header {
    uint64_t nonce; /* of the segment's maker */
    /* Ranks in MAIL; those that have been woken from it, and neither sleep nor have left; when the
     * last one was. */
    _Alignas(64) _Atomic uint32_t mails;
    _Atomic int32_t batons;
    _Atomic uint64_t passed_ns;
};

enum { STRANGER = -1, FORGOTTEN = -2 }; /* of a process outside the table; not in use */

struct endpoint {
    const void *handle; /* NULL: free */
    struct sg_wakes_key key;
    int number; /* in the table, or one of the following */
};

struct request {
    const void *handle; /* NULL: free */
    int number;
};

bool sg_wakes_are_on, sg_wakes_are_owed;

static bool is_wanted, has_own, has_progressed, has_baton;
static struct sg_wakes_key own_key;
static char *table;
static int ranks, own;
static uint32_t sleeps;

/* Endpoints, by open addressing; the number of those to ranks outside the table. */
static struct endpoint *endpoints;
static size_t endpoints_size, endpoints_count;
static int strangers;

static struct request requests[REQUESTS];
static unsigned requests_count;

/* By number: its unfinished sends; whether it is in the lists below; whether it has been asked. */
struct peer {
    uint32_t unfinished;
    bool is_open, is_owed, is_asked;
};
static struct peer *peers;
/* Numbers with unfinished sends (some have ended since); those that are owed a wake. */
static int *open_peers, *owed;
static int open_count, owed_count;

/* ---- the table ---- */

static size_t slot_bytes(int count)
{
    size_t words = ((size_t)count + BITS - 1) / BITS;

    return sizeof(struct slot) + (words * sizeof(uint64_t) + 63) / 64 * 64;
}

/* Words follow the header, together: pass_on looks at many. Slots follow them. */
static size_t words_bytes(int count)
{
    return ((size_t)count * sizeof(uint32_t) + 63) / 64 * 64;
}

size_t sg_wakes_bytes(int count)
{
    return sizeof(struct header) + words_bytes(count) + (size_t)count * slot_bytes(count);
}

static _Atomic uint32_t *word_of(int number)
{
    return (_Atomic uint32_t *)(table + sizeof(struct header)) + number;
}

static struct slot *slot(int number)
{
    return (struct slot *)(table + sizeof(struct header) + words_bytes(ranks) +
                           (size_t)number * slot_bytes(ranks));
}

/* ---- endpoints ---- */

static struct endpoint *place_of(const void *handle)
{
    size_t at = sg_hash_mix((uint64_t)(uintptr_t)handle) & (endpoints_size - 1);

    while (endpoints[at].handle != NULL && endpoints[at].handle != handle)
        at = (at + 1) & (endpoints_size - 1);
    return &endpoints[at];
}

/* Doubles the places when half of them are taken. False: no memory. */
static bool make_room(void)
{
    struct endpoint *before = endpoints;
    size_t size = endpoints_size;

    if (2 * (endpoints_count + 1) <= size)
        return true;
    endpoints = calloc(size == 0 ? 64 : 2 * size, sizeof *endpoints);
    if (endpoints == NULL) {
        endpoints = before;
        return false;
    }
    endpoints_size = size == 0 ? 64 : 2 * size;
    for (size_t i = 0; i < size; i++) {
        if (before[i].handle != NULL)
            *place_of(before[i].handle) = before[i];
    }
    free(before);
    return true;
}

static int number_of(const struct sg_wakes_key *key)
{
    for (int i = 0; table != NULL && i < ranks; i++) {
        if (memcmp(&slot(i)->key, key, sizeof *key) == 0)
            return i;
    }
    return STRANGER;
}

void sg_wakes_know_endpoint(const void *handle, struct sg_wakes_key key)
{
    struct endpoint *place;

    if (!is_wanted || handle == NULL)
        return;
    if (!make_room()) {
        strangers++;
        return;
    }
    place = place_of(handle);
    endpoints_count += place->handle == NULL;
    *place = (struct endpoint){handle, key, sg_wakes_are_on ? number_of(&key) : STRANGER};
    strangers += sg_wakes_are_on && place->number == STRANGER;
}

/* The place stays taken, for those behind it. */
void sg_wakes_forget_endpoint(const void *handle)
{
    struct endpoint *place = endpoints_size == 0 ? NULL : place_of(handle);

    if (place == NULL || place->handle == NULL)
        return;
    strangers -= sg_wakes_are_on && place->number == STRANGER;
    place->number = FORGOTTEN;
}

/* ---- start ---- */

bool sg_wakes_may_be_useful(void)
{
    return sg_processors_crowd() > CROWD_MIN;
}

void sg_wakes_expect(bool wanted)
{
    sg_wakes_stop();
    free(endpoints);
    endpoints = NULL;
    endpoints_size = endpoints_count = 0;
    has_own = false;
    is_wanted = wanted;
}

void sg_wakes_know_own(struct sg_wakes_key key)
{
    own_key = key;
    has_own = true;
}

bool sg_wakes_are_useful(void)
{
    return is_wanted && has_own && sg_wakes_may_be_useful() && sg_processors_keep_apart();
}

void sg_wakes_enter(void *shared, int count, int number)
{
    table = shared;
    ranks = count;
    own = number;
    slot(own)->key = own_key;
}

static bool is_unique(void)
{
    for (int i = 0; i < ranks; i++) {
        if (number_of(&slot(i)->key) != i)
            return false;
    }
    return true;
}

bool sg_wakes_start(void)
{
    peers = calloc((size_t)ranks, sizeof *peers);
    open_peers = calloc((size_t)ranks, sizeof *open_peers);
    owed = calloc((size_t)ranks, sizeof *owed);
    if (!is_unique() || peers == NULL || open_peers == NULL || owed == NULL) {
        sg_wakes_stop();
        return false;
    }
    for (size_t i = 0; i < endpoints_size; i++) {
        if (endpoints[i].handle == NULL || endpoints[i].number == FORGOTTEN)
            continue;
        endpoints[i].number = number_of(&endpoints[i].key);
        strangers += endpoints[i].number == STRANGER;
    }
    sg_wakes_are_on = true;
    return true;
}

void sg_wakes_stop(void)
{
    if (sg_wakes_are_on)
        sg_wakes_pay();
    sg_wakes_are_on = sg_wakes_are_owed = has_progressed = false;
    free(peers);
    free(open_peers);
    free(owed);
    peers = NULL;
    open_peers = owed = NULL;
    table = NULL;
    memset(requests, 0, sizeof requests);
    requests_count = 0;
    open_count = owed_count = strangers = 0;
}

/* ---- waking ---- */

static struct header *header(void)
{
    return (struct header *)table;
}

/* Relaxed: a rank that counts mail for too long looks once more. */
static void drop_mail(void)
{
    atomic_fetch_sub_explicit(&header()->mails, 1, memory_order_relaxed);
}

/* A sleeper has something to look at. It is woken when it is its turn (pass_on). */
static void notify(int number)
{
    _Atomic uint32_t *word = word_of(number);
    uint32_t asleep = ASLEEP;

    /* Relaxed: the fence of notify_all is between the message and this. */
    if (atomic_load_explicit(word, memory_order_relaxed) != ASLEEP || number == own)
        return;
    atomic_fetch_add_explicit(&header()->mails, 1, memory_order_seq_cst);
    if (!atomic_compare_exchange_strong_explicit(word, &asleep, MAIL, memory_order_seq_cst,
                                                 memory_order_relaxed))
        drop_mail();
}

/* True: the rank was in MAIL, and now is awake. */
static bool take_mail(int number)
{
    _Atomic uint32_t *word = word_of(number);
    uint32_t mail = MAIL;

    /* Relaxed: the exchange decides. */
    if (atomic_load_explicit(word, memory_order_relaxed) != MAIL ||
        !atomic_compare_exchange_strong_explicit(word, &mail, AWAKE, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return false;
    drop_mail();
    return true;
}

/* Wakes ranks in MAIL, the next ones after this rank first, until about as many as there are
 * processors run. A rank woken so passes on when it sleeps or leaves its call. Each then finds
 * more of what it waits for than if all ran at once. */
static void pass_on(void)
{
    struct header *shared = header();
    int crowd = sg_processors_crowd(), most = SPARE + (crowd > 0 ? (ranks + crowd - 1) / crowd : 1);

    if (has_baton && atomic_load_explicit(&shared->batons, memory_order_relaxed) > 0)
        atomic_fetch_sub_explicit(&shared->batons, 1, memory_order_seq_cst);
    has_baton = false;
    for (int i = 1; i <= ranks && atomic_load_explicit(&shared->mails, memory_order_seq_cst) > 0;
         i++) {
        int number = (own + i) % ranks;
        uint64_t now_ns = sg_clock_ns();

        if (atomic_load_explicit(&shared->batons, memory_order_seq_cst) >= most) {
            /* Relaxed: only a time. It may be later than now_ns. */
            if (now_ns < atomic_load_explicit(&shared->passed_ns, memory_order_relaxed) + STALE_NS)
                return;
            atomic_store_explicit(&shared->batons, 0, memory_order_seq_cst);
        }
        if (!take_mail(number))
            continue;
        atomic_fetch_add_explicit(&shared->batons, 1, memory_order_seq_cst);
        atomic_store_explicit(&shared->passed_ns, now_ns, memory_order_relaxed);
        if (number != own)
            syscall(SYS_futex, word_of(number), FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

static void notify_askers(void)
{
    _Atomic uint64_t *askers = slot(own)->askers;

    for (int first = 0; first < ranks; first += BITS, askers++) {
        /* Relaxed: the fence of notify_all is before. */
        uint64_t bits = atomic_load_explicit(askers, memory_order_relaxed);

        if (bits == 0)
            continue;
        for (bits = atomic_exchange_explicit(askers, 0, memory_order_seq_cst); bits != 0;
             bits &= bits - 1)
            notify(first + __builtin_ctzll(bits));
    }
}

/* Notifies the ranks that are owed it. */
static void notify_all(void)
{
    /* The messages are on their way before the words are read. */
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < owed_count; i++) {
        peers[owed[i]].is_owed = false;
        notify(owed[i]);
    }
    owed_count = 0;
    if (has_progressed) {
        has_progressed = false;
        notify_askers();
    }
    sg_wakes_are_owed = has_baton;
}

void sg_wakes_pay(void)
{
    int saved_errno = errno;

    notify_all();
    pass_on();
    sg_wakes_are_owed = false;
    errno = saved_errno;
}

/* True if the thread looks again before it leaves the call. */
static bool defers(void)
{
    return sg_turns.waiting && !sg_turns.own;
}

static void owe(void)
{
    sg_wakes_are_owed = true;
    if (!defers())
        sg_wakes_pay();
}

void sg_wakes_progressed(void)
{
    has_progressed = true;
    owe();
}

/* ---- unfinished sends ---- */

static unsigned hash(const void *request)
{
    return (unsigned)sg_hash_mix((uint64_t)(uintptr_t)request) & (REQUESTS - 1);
}

static void open_peer(int number)
{
    struct peer *peer = &peers[number];

    peer->unfinished++;
    if (peer->is_open)
        return;
    peer->is_open = true;
    open_peers[open_count++] = number;
}

static void remember(const void *request, int number)
{
    unsigned at = hash(request);

    sg_wakes_ended(request);
    if (2 * requests_count >= REQUESTS)
        return;
    while (requests[at].handle != NULL)
        at = (at + 1) & (REQUESTS - 1);
    requests[at] = (struct request){request, number};
    requests_count++;
    open_peer(number);
}

/* Frees a place, and moves those behind it that would no longer be found. */
static void free_place(unsigned at)
{
    requests_count--;
    for (unsigned next = at;;) {
        next = (next + 1) & (REQUESTS - 1);
        if (requests[next].handle == NULL)
            break;
        if (((next - hash(requests[next].handle)) & (REQUESTS - 1)) <
            ((next - at) & (REQUESTS - 1)))
            continue;
        requests[at] = requests[next];
        at = next;
    }
    requests[at].handle = NULL;
}

void sg_wakes_ended(const void *request)
{
    if (requests_count == 0)
        return;
    for (unsigned at = hash(request); requests[at].handle != NULL; at = (at + 1) & (REQUESTS - 1)) {
        if (requests[at].handle != request)
            continue;
        peers[requests[at].number].unfinished--;
        free_place(at);
        return;
    }
}

/* The number of the endpoint's rank; < 0: none, or this one. */
static int number_at(const void *handle)
{
    const struct endpoint *place = endpoints_size == 0 ? NULL : place_of(handle);

    return place == NULL || place->handle == NULL || place->number == own ? STRANGER
                                                                          : place->number;
}

void sg_wakes_sent(const void *handle, const void *request)
{
    int number = number_at(handle);

    if (number < 0)
        return;
    if (request != NULL)
        remember(request, number);
    if (!peers[number].is_owed) {
        peers[number].is_owed = true;
        owed[owed_count++] = number;
    }
    owe();
}

void sg_wakes_flushed(const void *request)
{
    if (request != NULL)
        remember(request, own);
}

void sg_wakes_begin_answer(const void *handle)
{
    int number = number_at(handle);

    if (number >= 0)
        open_peer(number);
}

void sg_wakes_end_answer(const void *handle)
{
    int number = number_at(handle);

    if (number >= 0)
        peers[number].unfinished--;
}

/* Asks the receivers of unfinished sends. One that has progressed since it was asked has made room,
 * and may wait for what did not fit before. */
static void ask(void)
{
    uint64_t bit = UINT64_C(1) << own % BITS;
    int count = 0;

    for (int i = 0; i < open_count; i++) {
        int number = open_peers[i];
        struct peer *peer = &peers[number];
        _Atomic uint64_t *askers = &slot(number)->askers[own / BITS];

        peer->is_open = peer->unfinished > 0;
        if (!peer->is_open) {
            peer->is_asked = false;
            continue;
        }
        open_peers[count++] = number;
        /* Relaxed: a fence follows, before the last look for messages. */
        if ((atomic_load_explicit(askers, memory_order_relaxed) & bit) != 0)
            continue;
        atomic_fetch_or_explicit(askers, bit, memory_order_seq_cst);
        if (peer->is_asked)
            notify(number);
        peer->is_asked = true;
    }
    open_count = count;
}

/* ---- sleeping ---- */

static uint64_t longest_ns(void)
{
    uint64_t time_ns = (uint64_t)sg_processors_crowd() * SLEEP_NS;

    if (strangers > 0 || peers[own].unfinished > 0)
        return STRANGERS_SLEEP_NS;
    return time_ns < SLEEP_MAX_NS ? time_ns : SLEEP_MAX_NS;
}

/* Ends this rank's sleep. If another rank has woken it, it has a baton. */
static void wake_up(_Atomic uint32_t *mine)
{
    uint32_t word = atomic_exchange_explicit(mine, AWAKE, memory_order_seq_cst);

    if (word == MAIL)
        drop_mail();
    if (word != AWAKE)
        return;
    has_baton = true;
    owe();
}

/* Sleeps until this rank is woken, or for the limit. */
static void sleep_on(_Atomic uint32_t *mine)
{
    uint64_t begin_ns = sg_clock_ns(), limit_ns = longest_ns();
    const struct timespec limit = {0, (long)limit_ns};
    uint32_t word;

    while ((word = atomic_load_explicit(mine, memory_order_seq_cst)) != AWAKE &&
           (syscall(SYS_futex, mine, FUTEX_WAIT, word, &limit, NULL, 0) == 0 || errno == EAGAIN))
        continue;
    wake_up(mine);
    sg_turn_slept(sg_clock_ns() - begin_ns);
    if (++sleeps % SLEEPS_PER_LOOK == 0)
        sg_turn_look();
}

bool sg_wakes_sleep(unsigned (*progress)(void *worker), void *worker, unsigned *events)
{
    _Atomic uint32_t *mine;
    int saved_errno = errno;

    if (!sg_turn_lets_sleep() || sg_processors_crowd() <= CROWD_MIN) {
        /* This thread does not sleep, but a rank that it waits for may. */
        if (sg_wakes_are_owed)
            sg_wakes_pay();
        return false;
    }
    *events = 0;
    if (++sg_turns.idle < SPINS)
        return true;
    notify_all();
    mine = word_of(own);
    atomic_store_explicit(mine, ASLEEP, memory_order_seq_cst);
    ask();
    /* The word is up before the last look for messages. */
    atomic_thread_fence(memory_order_seq_cst);
    *events = progress(worker);
    if (*events == 0) {
        pass_on();
        sleep_on(mine);
        *events = progress(worker);
    } else {
        wake_up(mine);
        owe(); /* pass_on */
    }
    sg_turns.idle = 0;
    errno = saved_errno;
    return true;
}
