/* Sequentially consistent operations and fences: RC11's relation psc has no cycle.
 *
 *   scb      = po | po-to-other-locations; hb; po-to-other-locations | hb-of-one-location | mo | fr
 *   psc_base = ([SC] | [F]; hb?); scb; ([SC] | hb?; [F])
 *   psc_fence = [F]; (hb | hb; eco; hb); [F]
 *
 * [SC] are such accesses and fences, [F] such fences; eco is the closure of reads-from, mo and fr.
 * Plain accesses do not count among what po-to-other-locations passes, which allows a little more.
 *
 * An event is added behind all that it depends on. So a new edge ends in the event, or begins in it
 * or in a fence before it and leads to its successors in modification order. Only the second kind
 * closes a cycle, and only if the event is not last in modification order. The set that psc reaches
 * from each member is kept closed.
 */
#include "weak/execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX 512
#define WORDS (MEMBERS_MAX / 64)

struct set {
    uint64_t words[WORDS];
};

static int members[MEMBERS_MAX]; /* events */
/* The number, in its thread, of the first event after a member that is of another location; 0: none
 * yet. Of which members of each thread it is not known. */
static uint32_t first_elsewhere[MEMBERS_MAX];
static struct set unfinished[WEAK_THREADS_MAX];
/* Last event of each thread, and its last event at another location than that. */
static int last_event[WEAK_THREADS_MAX], last_elsewhere[WEAK_THREADS_MAX];
static struct set reached[MEMBERS_MAX];
static int member_count;

void weak_order_reset(void)
{
    member_count = 0;
    memset(unfinished, 0, sizeof unfinished);
    for (int i = 0; i < WEAK_THREADS_MAX; i++)
        last_event[i] = last_elsewhere[i] = -1;
}

/* ---- sets of members ---- */

static void add(struct set *set, int member)
{
    set->words[member / 64] |= UINT64_C(1) << member % 64;
}

static void add_all(struct set *set, const struct set *other)
{
    for (int i = 0; i < WORDS; i++)
        set->words[i] |= other->words[i];
}

static bool has(const struct set *set, int member)
{
    return set->words[member / 64] >> member % 64 & 1;
}

static bool meets(const struct set *set, const struct set *other)
{
    for (int i = 0; i < WORDS; i++) {
        if (set->words[i] & other->words[i])
            return true;
    }
    return false;
}

static bool is_empty(const struct set *set)
{
    return !meets(set, set);
}

/* The members of the set, and what they reach. */
static struct set close(const struct set *set)
{
    struct set all = *set;

    for (int word = 0; word < WORDS; word++) {
        for (uint64_t bits = set->words[word]; bits != 0; bits &= bits - 1)
            add_all(&all, &reached[word * 64 + __builtin_ctzll(bits)]);
    }
    return all;
}

/* ---- relations of events ---- */

/* The events of a location, the last first. */
#define FOR_EACH_EVENT(each, of)                                                                   \
    for (const struct event *each = first_event(of); each != NULL; each = next_event(each))

static const struct event *first_event(const struct location *location)
{
    return location != NULL && location->last_event >= 0 ? &weak_events[location->last_event]
                                                         : NULL;
}

static const struct event *next_event(const struct event *event)
{
    return event->previous >= 0 ? &weak_events[event->previous] : NULL;
}

static bool is_member(const struct event *event)
{
    return event->order == memory_order_seq_cst;
}

static bool is_fence(const struct event *event)
{
    return event->operation == OPERATION_FENCE;
}

static bool writes(const struct event *event)
{
    return event->operation == OPERATION_STORE || event->operation == OPERATION_UPDATE;
}

/* Happens before; never itself. */
static bool before(const struct event *event, const struct event *later)
{
    return event != later && event->clock.at[event->thread] <= later->clock.at[event->thread];
}

static int position_of(const struct event *event)
{
    return weak_stores[event->store].position;
}

/* Position of an event in its location's order, as a source and as a target of eco: from a to b
 * if source(a) <= target(b). */
static int source(const struct event *event)
{
    return 2 * position_of(event) + (writes(event) ? 1 : 2);
}

static int target(const struct event *event)
{
    return 2 * position_of(event) + (writes(event) ? 0 : 1);
}

/* The last event of a new one's thread that is of another location; NULL. */
static const struct event *last_before(const struct event *new)
{
    int last = last_event[new->thread];

    if (last >= 0 && weak_events[last].location == new->location)
        last = last_elsewhere[new->thread];
    return last >= 0 ? &weak_events[last] : NULL;
}

/* po-to-other-locations; hb; po-to-other-locations, to a new event. */
static bool goes_round(int member, const struct event *new)
{
    const struct event *event = &weak_events[members[member]], *last = last_before(new);

    return first_elsewhere[member] != 0 && last != NULL &&
           first_elsewhere[member] <= last->clock.at[event->thread];
}

/* The new event is of another location than members of its thread before it. */
static void note_elsewhere(const struct event *new)
{
    struct set *set = &unfinished[new->thread];
    int *last = &last_event[new->thread];

    for (int word = 0; word < WORDS; word++) {
        for (uint64_t bits = set->words[word]; bits != 0; bits &= bits - 1) {
            int member = word * 64 + __builtin_ctzll(bits);

            if (weak_events[members[member]].location != new->location) {
                first_elsewhere[member] = new->clock.at[new->thread];
                set->words[word] &= ~(bits & -bits);
            }
        }
    }
    if (*last >= 0 && weak_events[*last].location != new->location)
        last_elsewhere[new->thread] = *last;
    *last = weak_event_count;
}

/* scb of two accesses, of which the second is new and goes, or reads, behind that position. */
static bool comes_before(int member, const struct event *new, int position)
{
    const struct event *event = &weak_events[members[member]];

    if (event->thread == new->thread)
        return true;
    if (event->location == new->location &&
        (before(event, new) || (writes(new) && position_of(event) <= position)))
        return true;
    return goes_round(member, new);
}

/* ---- edges that end in the new event ---- */

/* hb, or hb; eco; hb. */
static bool leads_fence_to_fence(const struct event *fence, const struct event *new)
{
    if (before(fence, new))
        return true;
    for (int i = 0; i < weak_event_count; i++) {
        const struct event *to = &weak_events[i];

        if (is_fence(to) || !before(to, new))
            continue;
        FOR_EACH_EVENT(from, to->location)
        {
            if (source(from) <= target(to) && before(fence, from))
                return true;
        }
    }
    return false;
}

static bool leads_access_to_fence(const struct event *access, const struct event *new)
{
    if (before(access, new))
        return true;
    FOR_EACH_EVENT(to, access->location)
    {
        if (writes(to) && before(to, new) && position_of(to) > position_of(access))
            return true;
    }
    return false;
}

/* hb; po, or hb; scb at the location. */
static bool leads_fence_to_access(const struct event *fence, const struct event *new, int position)
{
    int last = last_event[new->thread];

    if (last >= 0 && (&weak_events[last] == fence || before(fence, &weak_events[last])))
        return true;
    FOR_EACH_EVENT(via, new->location)
    {
        if (before(fence, via) &&
            (before(via, new) || (writes(new) && position_of(via) <= position)))
            return true;
    }
    return false;
}

/* Members that have an edge to the new one. */
static struct set sources_of(const struct event *new, int position)
{
    struct set set = {{0}};

    for (int i = 0; i < member_count; i++) {
        const struct event *event = &weak_events[members[i]];
        bool leads = is_fence(event) ? is_fence(new) ? leads_fence_to_fence(event, new)
                                                     : leads_fence_to_access(event, new, position)
                     : is_fence(new) ? leads_access_to_fence(event, new)
                                     : comes_before(i, new, position);

        if (leads)
            add(&set, i);
    }
    return set;
}

/* ---- edges that the new event makes to older ones ---- */

/* Fences that happen before it: it makes edges from them. */
static struct set fences_before(const struct event *new)
{
    struct set set = {{0}};

    for (int i = 0; i < member_count; i++) {
        const struct event *event = &weak_events[members[i]];

        if (is_fence(event) && before(event, new))
            add(&set, i);
    }
    return set;
}

static void add_fences_after(struct set *set, const struct event *event)
{
    for (int i = 0; i < member_count; i++) {
        const struct event *fence = &weak_events[members[i]];

        if (is_fence(fence) && before(event, fence))
            add(set, i);
    }
}

/* Collects the successors of the event by mo or fr (`direct`), and their readers as well (`all`):
 * members and fences. */
static void targets_of(const struct event *new, int position, struct set *direct, struct set *all)
{
    memset(direct, 0, sizeof *direct);
    memset(all, 0, sizeof *all);
    FOR_EACH_EVENT(event, new->location)
    {
        if (position_of(event) <= position)
            continue;
        if (writes(event))
            add_fences_after(direct, event);
        add_fences_after(all, event);
    }
    for (int i = 0; i < member_count; i++) {
        const struct event *event = &weak_events[members[i]];

        if (event->location == new->location && writes(event) && position_of(event) > position)
            add(direct, i);
    }
    add_all(all, direct);
}

static bool is_last(const struct event *new, int position)
{
    return new->location == NULL || position == new->location->count - 1;
}

bool weak_order_allows(const struct event *new, int position)
{
    struct set fences, direct, all, sources;

    if (is_last(new, position) || member_count == 0)
        return true;
    fences = fences_before(new);
    if (is_empty(&fences) && !is_member(new))
        return true;
    targets_of(new, position, &direct, &all);
    all = close(&all);
    if (meets(&all, &fences))
        return false;
    if (!is_member(new))
        return true;
    direct = close(&direct);
    sources = sources_of(new, position);
    return !meets(&direct, &sources);
}

void weak_order_add(const struct event *new, int position)
{
    struct set fences, direct = {{0}}, all, sources;

    if (!is_last(new, position) && member_count > 0) {
        fences = fences_before(new);
        targets_of(new, position, &direct, &all);
        all = close(&all);
        for (int i = 0; i < member_count; i++) {
            if (has(&fences, i) || meets(&reached[i], &fences))
                add_all(&reached[i], &all);
        }
    }
    if (!is_member(new)) {
        note_elsewhere(new);
        return;
    }
    if (member_count == MEMBERS_MAX) {
        fprintf(stderr, "weak: too many sequentially consistent operations\n");
        abort();
    }
    sources = sources_of(new, position);
    direct = close(&direct);
    members[member_count] = weak_event_count;
    reached[member_count] = direct;
    add(&direct, member_count);
    for (int i = 0; i < member_count; i++) {
        if (has(&sources, i) || meets(&reached[i], &sources))
            add_all(&reached[i], &direct);
    }
    note_elsewhere(new);
    first_elsewhere[member_count] = 0;
    add(&unfinished[new->thread], member_count++);
}
