#include "report/learned_print.h"

#include "core/status.h"
#include "output/format.h"
#include "output/json_output.h"
#include "output/table.h"

#include <inttypes.h>
#include <stdlib.h>

static char *costs_of(const struct sg_learned_place *place)
{
    size_t text_bytes;
    char *text = NULL;
    FILE *out = open_memstream(&text, &text_bytes);

    if (out == NULL)
        return NULL;
    for (uint32_t i = 0; i < place->arm_count; i++)
        fprintf(out, "%s%s %s", i > 0 ? ", " : "", place->arms[i].text,
                SG_UNSIGNED(place->arms[i].cost_ns));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

enum sg_status sg_learned_print(const struct sg_report *report, FILE *out)
{
    static const struct sg_column columns[] = {
        {.header = "learned by auto", .left = true},
        {.header = "best", .left = true},
        {.header = "calls"},
        {.header = "learned"},
        {.header = "changes"},
        {.header = "cost of a call on a rank", .left = true},
    };
    struct sg_table table = {0};
    enum sg_status status;

    if (report->learned.count == 0)
        return SG_OK;
    sg_table_show(&table, (struct sg_columns){columns, sizeof columns / sizeof *columns}, NULL);
    for (uint32_t i = 0; i < report->learned.count; i++) {
        const struct sg_learned_place *place = &report->learned.places[i];

        sg_table_add(&table, sg_format_clean(place->rule, true));
        sg_table_add(&table, sg_format_clean(place->arm, true));
        sg_table_addf(&table, "%" PRIu64, place->calls);
        sg_table_addf(&table, "%" PRIu64, place->learnings);
        sg_table_addf(&table, "%" PRIu64, place->changes);
        sg_table_add(&table, costs_of(place));
    }
    status = sg_table_finish(&table, "report", out);
    fputc('\n', out);
    return status;
}

enum sg_status sg_learned_print_rules(const struct sg_report *report, FILE *out)
{
    if (report->learned.count == 0) {
        sg_log("%s: nothing was learned: no rule with auto decided calls, or too few of them",
               report->path);
        return SG_ERR_MISSING;
    }
    for (uint32_t i = 0; i < report->learned.count; i++) {
        const struct sg_learned_place *place = &report->learned.places[i];

        if (sg_learned_is_first(&report->learned, place))
            fprintf(out, "%s=%s\n", place->rule, place->arm);
    }
    return SG_OK;
}

static json_t *place_of(const struct sg_learned_place *place)
{
    json_t *arms = json_array();

    for (uint32_t i = 0; i < place->arm_count && arms != NULL; i++)
        sg_json_append(&arms,
                       json_pack("{s:o, s:f}", "algorithm", sg_json_text(place->arms[i].text),
                                 "cost_ns", place->arms[i].cost_ns));
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "rule", sg_json_text(place->rule),
                     "algorithm", sg_json_text(place->arm), "rank", (json_int_t)place->rank,
                     "calls", (json_int_t)place->calls, "learnings", (json_int_t)place->learnings,
                     "changes", (json_int_t)place->changes, "arms", arms);
}

json_t *sg_learned_json(const struct sg_report *report)
{
    json_t *places = json_array();

    for (uint32_t i = 0; i < report->learned.count && places != NULL; i++)
        sg_json_append(&places, place_of(&report->learned.places[i]));
    return places;
}
