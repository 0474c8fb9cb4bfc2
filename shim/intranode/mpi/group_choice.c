/* Keeps the latest choices: duplicates of a communicator, and the rows and columns of a grid, have
 * ranks whose places relate alike. */
#include "intranode/mpi/group_choice.h"

#include "algos/lines.h"
#include "core/status.h"
#include "core/topology.h"
#include "intranode/forms.h"
#include "mpi/user_lines.h"
#include "wait/processors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHOICES_KEPT 8
#define NOTE_BYTES 400

struct kept {
    int ranks;
    struct sg_place *places; /* numbered by number_places; NULL: unused */
    struct sg_lines_choice choice;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept kept[CHOICES_KEPT];
static unsigned kept_count; /* so far */

/* Returns the number of a part among those of earlier ranks; `next`: it is new. at: its offset in a
 * place. */
static int number_of(const struct sg_place *places, const struct sg_place *numbered, int rank,
                     size_t at, int *next)
{
    const int *part = (const int *)((const char *)&places[rank] + at);

    for (int other = 0; other < rank; other++) {
        if (*(const int *)((const char *)&places[other] + at) == *part)
            return *(const int *)((const char *)&numbered[other] + at);
    }
    return (*next)++;
}

/* Numbers the parts of the machine in the order of ranks, so that places that relate alike are
 * equal. */
static void number_places(const struct sg_place *places, int ranks, struct sg_place *numbered)
{
    struct sg_place next = {0, 0, 0, 0};

    for (int rank = 0; rank < ranks; rank++) {
#define NUMBER(part)                                                                               \
    numbered[rank].part =                                                                          \
        number_of(places, numbered, rank, offsetof(struct sg_place, part), &next.part)
        NUMBER(core);
        NUMBER(cluster);
        NUMBER(numa);
        NUMBER(socket);
#undef NUMBER
    }
}

/* Finds the members' places; false: unknown. */
static bool find_places(const int *world_ranks, int ranks, struct sg_place *places)
{
    static struct sg_topology *topology; /* the machine's, for all its ranks */
    static bool is_read;
    cpu_set_t *masks = malloc((size_t)ranks * sizeof *masks);
    cpu_set_t all;
    bool found = masks != NULL;

    if (found && !is_read) {
        is_read = true;
        sg_processors_all(&all);
        topology = sg_topology_read("/sys", &all);
    }
    for (int rank = 0; rank < ranks && found; rank++)
        found = sg_processors_mask(world_ranks[rank], &masks[rank]);
    found = found && topology != NULL && sg_topology_deal(topology, masks, ranks, places);
    free(masks);
    return found;
}

/* Writes what a communicator runs, and why, to the trace. */
static void note(const char *name, int ranks, const char *form)
{
    char text[NOTE_BYTES];

    snprintf(text, sizeof text, "barriers and allreduces of %s, %d ranks of one node: %s", name,
             ranks, form);
    sg_trace_event_line(SG_TRACE_LINE_NOTE, text);
}

/* Chooses for these places; takes ownership of them. False: no memory. */
static bool choose(const char *name, struct sg_place *places, int ranks,
                   struct sg_lines_choice *choice)
{
    struct kept *oldest = &kept[kept_count % CHOICES_KEPT];
    char text[SG_FORM_TEXT_BYTES];
    void *memory;

    for (int i = 0; i < CHOICES_KEPT; i++) {
        if (kept[i].ranks == ranks &&
            memcmp(kept[i].places, places, (size_t)ranks * sizeof *places) == 0) {
            *choice = kept[i].choice;
            free(places);
            return true;
        }
    }
    memory = malloc(sg_lines_bytes(places, ranks));
    if (memory == NULL) {
        free(places);
        return false;
    }
    sg_lines_choose(places, ranks, memory, choice);
    free(memory);
    free(oldest->places);
    *oldest = (struct kept){ranks, places, *choice};
    kept_count++;
    note(name, ranks, sg_form_describe(choice, text));
    return true;
}

/* False: the places are unknown, or no memory is left. */
static bool choose_by_places(const char *name, const int *world_ranks, int ranks,
                             struct sg_lines_choice *choice)
{
    struct sg_place *places = malloc((size_t)ranks * sizeof *places);
    struct sg_place *numbered = malloc((size_t)ranks * sizeof *numbered);
    bool found = places != NULL && numbered != NULL && find_places(world_ranks, ranks, places);

    if (found)
        number_places(places, ranks, numbered);
    else
        free(numbered);
    free(places);
    return found && choose(name, numbered, ranks, choice);
}

struct sg_group_choice sg_group_choice_of(const char *name, const int *world_ranks, int ranks)
{
    struct sg_group_choice choice = {.bytes = 0};
    struct sg_lines_choice modelled;
    bool found;

    if (ranks <= SG_FLAT_RANKS_MAX || sg_processors_are_short())
        return choice;
    choice.sizes.group = sg_form_group(ranks);
    if (world_ranks == NULL || ranks > SG_LINES_RANKS_MAX)
        return choice;
    pthread_mutex_lock(&lock);
    found = choose_by_places(name, world_ranks, ranks, &modelled);
    pthread_mutex_unlock(&lock);
    if (found && modelled.sizes.group > 0)
        choice = (struct sg_group_choice){modelled.sizes, modelled.bytes};
    return choice;
}
