#include "report/waitstates/places.h"

#include "core/room.h"
#include "report/aggregate.h"
#include "report/map.h"

#include <stdlib.h>
#include <string.h>

struct place {
    uint32_t function, site;
};

struct sg_places {
    const struct sg_aggregate *aggregate;
    char **functions;
    struct place *of;
    uint32_t function_count, count;
    struct sg_map by_key;
};

enum sg_status sg_places_create(const struct sg_aggregate *aggregate, struct sg_places **out)
{
    struct sg_places *places = calloc(1, sizeof *places);

    if (places == NULL)
        return SG_ERR_MEMORY;
    places->aggregate = aggregate;
    *out = places;
    return SG_OK;
}

void sg_places_destroy(struct sg_places *places)
{
    if (places == NULL)
        return;
    for (uint32_t i = 0; i < places->function_count; i++)
        free(places->functions[i]);
    sg_map_clear(&places->by_key);
    free(places->functions);
    free(places->of);
    free(places);
}

enum sg_status sg_places_function(struct sg_places *places, const char *name, uint32_t *out)
{
    uint32_t index = 0;
    char *copy;

    while (index < places->function_count && strcmp(places->functions[index], name) != 0)
        index++;
    if (index == places->function_count) {
        copy = strdup(name);
        if (copy == NULL || !SG_APPEND(places->functions, places->function_count, copy)) {
            free(copy);
            return SG_ERR_MEMORY;
        }
    }
    *out = index;
    return SG_OK;
}

int64_t sg_places_find(struct sg_places *places, const struct sg_waitstate_end *end)
{
    bool is_new;
    int64_t index = sg_map_number(&places->by_key, (uint64_t)end->function << 32 | end->site,
                                  places->count, &is_new);

    if (is_new && !SG_APPEND(places->of, places->count, (struct place){end->function, end->site}))
        return -1;
    return index;
}

uint32_t sg_places_site(const struct sg_places *places, uint32_t place)
{
    return places->of[place].site;
}

void sg_places_name(const struct sg_places *places, uint32_t place, struct sg_waitstate_place *out)
{
    if (place == SG_NO_PLACE)
        return;
    out->function = places->functions[places->of[place].function];
    sg_aggregate_name_site(places->aggregate, places->of[place].site, &out->site);
}
