#include "report/causes/chains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct chain {
    uint32_t place;
    double late_ns;
    uint32_t first_rank;
    int64_t first_ns;
    enum sg_cause cause;
    uint32_t cause_rank;
    double cause_ns;
    struct sg_blame_link links[SG_BLAME_STEPS];
    uint32_t link_count;
};

struct sg_cause_chains {
    struct chain of[SG_CAUSE_CHAINS];
    uint32_t count;
};

enum sg_status sg_cause_chains_create(struct sg_cause_chains **out)
{
    *out = calloc(1, sizeof **out);
    return *out != NULL ? SG_OK : SG_ERR_MEMORY;
}

void sg_cause_chains_destroy(struct sg_cause_chains *chains)
{
    free(chains);
}

/* The one of the place, or room, or the one with the least lateness. */
static struct chain *find_chain(struct sg_cause_chains *chains, uint32_t place)
{
    struct chain *least = &chains->of[0];

    for (uint32_t i = 0; i < chains->count; i++) {
        if (chains->of[i].place == place)
            return &chains->of[i];
        if (chains->of[i].late_ns < least->late_ns)
            least = &chains->of[i];
    }
    if (chains->count < SG_CAUSE_CHAINS) {
        least = &chains->of[chains->count++];
        least->late_ns = 0;
    }
    return least;
}

void sg_cause_chains_add(struct sg_cause_chains *chains, uint32_t place,
                         const struct sg_blame *blame, const struct sg_blame_member *members)
{
    struct chain *chain = find_chain(chains, place);

    if (blame->late_ns <= chain->late_ns)
        return;
    chain->place = place;
    chain->late_ns = blame->late_ns;
    chain->first_rank = members[blame->first].rank;
    chain->first_ns = members[blame->first].came_ns;
    chain->cause_ns = 0;
    for (uint32_t i = 0; i < blame->part_count; i++) {
        const struct sg_blame_part *part = &blame->parts[i];

        if (part->ns <= chain->cause_ns)
            continue;
        chain->cause = part->cause;
        chain->cause_rank = part->rank;
        chain->cause_ns = part->ns;
    }
    chain->link_count = blame->link_count;
    memcpy(chain->links, blame->links, blame->link_count * sizeof *chain->links);
}

/* ---- the result ------------------------------------------------------------------------------ */

static int compare_chains(const void *left, const void *right)
{
    const struct sg_cause_chain *a = left, *b = right;

    return (a->late_ns < b->late_ns) - (a->late_ns > b->late_ns);
}

static void name_link(const struct sg_places *places, const uint32_t *ranks,
                      const struct sg_blame_link *link, struct sg_cause_link *out)
{
    out->rank = ranks[link->location];
    out->from_ns = link->from_ns;
    out->to_ns = link->to_ns;
    memcpy(out->ns, link->ns, sizeof out->ns);
    sg_places_name(places, link->after, &out->after);
    sg_places_name(places, link->until, &out->until);
    sg_places_name(places, link->waited, &out->waited);
}

enum sg_status sg_cause_chains_finish(const struct sg_cause_chains *chains,
                                      const struct sg_places *places, const uint32_t *ranks,
                                      struct sg_causes_found *out)
{
    out->chains = calloc(chains->count + 1, sizeof *out->chains);
    if (out->chains == NULL)
        return SG_ERR_MEMORY;
    for (uint32_t i = 0; i < chains->count; i++) {
        const struct chain *chain = &chains->of[i];
        struct sg_cause_chain *to = &out->chains[i];

        *to = (struct sg_cause_chain){.late_ns = (uint64_t)llround(chain->late_ns),
                                      .first_rank = chain->first_rank,
                                      .first_ns = chain->first_ns,
                                      .cause = chain->cause,
                                      .cause_rank = chain->cause_rank,
                                      .cause_ns = (uint64_t)llround(chain->cause_ns)};
        to->links = calloc(chain->link_count + 1, sizeof *to->links);
        out->chain_count++;
        if (to->links == NULL)
            return SG_ERR_MEMORY;
        sg_places_name(places, chain->place, &to->at);
        for (uint32_t at = 0; at < chain->link_count; at++)
            name_link(places, ranks, &chain->links[at], &to->links[at]);
        to->link_count = chain->link_count;
    }
    qsort(out->chains, out->chain_count, sizeof *out->chains, compare_chains);
    return SG_OK;
}
