/* Decides which tests belong to one stretch, and which are repeats (polling.h). */
#include "profile/polling.h"

#include "profile/entries.h"

#include <time.h>

/* The time between the tests that still counts as polling, in times of that in the tests: what is
 * done for a test outside of its own time takes as long as a quick test. */
#define BETWEEN 3
/* The time that the library itself takes between two measured tests, at most. */
#define OWN_NS 100u
/* Longer tests are always measured. */
#define QUICK_NS 400u
/* Measured tests between readings of the thread's processor time. */
#define MARKED 128u

__thread struct sg_polling sg_polling __attribute__((tls_model("initial-exec")));

static uint64_t processor_ns(void)
{
    struct timespec time = {0, 0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static bool belongs(const struct sg_polling *own, uint64_t now_ns)
{
    return now_ns - own->begin_ns <= (1 + BETWEEN) * own->inside_ns + own->reading_ns;
}

/* Returns the part of a pause after the last repeat for which the thread was off the processor, if
 * it was off for most of it. */
static uint64_t off_ns(struct sg_polling *own, uint64_t last_ns, uint64_t now_ns)
{
    uint64_t pause_ns = sg_tick_between(last_ns, now_ns), on_ns, now_cpu;

    if (pause_ns <= (1 + BETWEEN) * own->usual_ns + OWN_NS)
        return 0;
    now_cpu = processor_ns();
    /* The thread had the processor until last_ns. */
    on_ns = sg_tick_between(sg_tick_between(own->mark_ns, last_ns), now_cpu - own->mark_cpu);
    own->mark_cpu = now_cpu;
    own->mark_ns = now_ns;
    return on_ns < pause_ns / 2 ? pause_ns - on_ns : 0;
}

void sg_polling_interrupt(uint64_t begin_ns)
{
    struct sg_polling *own = &sg_polling;
    uint64_t last_ns = sg_tick_at(own->last), each_ns = own->usual_ns, passed_ns, pause_ns;

    own->is_tight = false;
    if (own->count == 0)
        return;
    /* A repeat takes less than a measured test. */
    passed_ns = sg_tick_between(sg_tick_at(own->first), last_ns);
    if (own->count > 1 && passed_ns / (own->count - 1) < each_ns)
        each_ns = passed_ns / (own->count - 1);
    pause_ns = off_ns(own, last_ns, begin_ns);
    sg_profile_add_repeats(own->place.entry, own->count, each_ns, pause_ns);
    own->inside_ns += own->count * each_ns + pause_ns;
    own->last_end_ns = last_ns + own->usual_ns + pause_ns;
    own->count = 0;
}

static bool is_same(const struct sg_polling_place *a, const struct sg_polling_place *b)
{
    return a->caller == b->caller && a->function == b->function && a->comm == b->comm &&
           a->entry == b->entry;
}

/* A test may be interrupted: then its duration is not usual. */
static void learn_usual(struct sg_polling *own, uint64_t took_ns)
{
    if (own->in_row == 1)
        own->usual_ns = took_ns;
    else if (took_ns > 2 * own->usual_ns)
        own->usual_ns += own->usual_ns / 8 + 1;
    else
        own->usual_ns = (7 * own->usual_ns + took_ns) / 8;
}

static void tighten(struct sg_polling *own, uint64_t now_ns)
{
    if (own->in_row % MARKED == SG_POLLING_MEASURED % MARKED) {
        own->mark_cpu = processor_ns();
        own->mark_ns = now_ns;
    }
    own->is_tight = true;
    own->left = SG_POLLING_MEASURED - 1;
    own->near = sg_tick_counts((1 + BETWEEN) * own->usual_ns + OWN_NS);
    own->first = own->last = sg_tick_counter();
}

void sg_polling_note(const struct sg_polling_place *place, uint64_t begin_ns, uint64_t end_ns,
                     bool can_repeat)
{
    struct sg_polling *own = &sg_polling;
    uint64_t took_ns = end_ns - begin_ns;
    bool is_soon = sg_tick_between(own->last_end_ns, begin_ns) <= BETWEEN * own->usual_ns + OWN_NS;

    if (!belongs(own, begin_ns)) {
        own->begin_ns = begin_ns;
        own->inside_ns = own->reading_ns = 0;
    }
    own->inside_ns += took_ns;
    own->reading_ns += OWN_NS;
    own->in_row = is_soon && is_same(place, &own->place) ? own->in_row + 1 : 1;
    own->place = *place;
    own->last_end_ns = end_ns;
    learn_usual(own, took_ns);
    if (can_repeat && own->in_row >= SG_POLLING_MEASURED && own->usual_ns <= QUICK_NS &&
        place->entry != NULL && sg_tick_is_set())
        tighten(own, end_ns);
}

uint64_t sg_polling_end(uint64_t begin_ns)
{
    struct sg_polling *own = &sg_polling;
    uint64_t polled_ns =
        own->inside_ns > 0 && belongs(own, begin_ns) ? begin_ns - own->begin_ns : 0;

    own->inside_ns = own->reading_ns = 0;
    own->in_row = 0;
    return polled_ns;
}
