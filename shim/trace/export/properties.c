#include "trace/export/definitions.h"

#include "core/room.h"
#include "trace/export/vocabulary.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static void set_text(struct sg_archive *archive, const char *name, const char *value)
{
    sg_archive_check(archive, OTF2_Archive_SetProperty(archive->handle, name, value, true));
}

static void set_number(struct sg_archive *archive, const char *name, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    set_text(archive, name, text);
}

/* Sums a counter over all ranks. offset: of a uint64_t in struct sg_summary. */
static uint64_t sum_of(const struct sg_unified *unified, size_t offset)
{
    uint64_t sum = 0;

    for (int i = 0; i < unified->summary_count; i++)
        sum += *(const uint64_t *)((const char *)&unified->summaries[i] + offset);
    return sum;
}

static void set_sums(struct sg_archive *archive, const struct sg_unified *unified)
{
#define OFFSET(field) offsetof(struct sg_summary, field)
    static const struct {
        const char *name;
        size_t count;
        size_t calls; /* if their sum is 0, the property is omitted */
    } sums[] = {
        {SG_PROPERTY_UNMANAGED, OFFSET(unmanaged_calls), OFFSET(unmanaged_calls)},
        {SG_PROPERTY_UNMANAGED_POSTS, OFFSET(unmanaged_nonblocking), OFFSET(unmanaged_calls)},
        {SG_PROPERTY_UNMANAGED_FULL, OFFSET(unmanaged_full), OFFSET(unmanaged_full)},
        {SG_PROPERTY_OVERHEAD_CALLS, OFFSET(overhead_calls), OFFSET(overhead_calls)},
        {SG_PROPERTY_OVERHEAD_NS, OFFSET(overhead_ns), OFFSET(overhead_calls)},
        {SG_PROPERTY_OVERHEAD_LONG_CALLS, OFFSET(overhead_long_calls), OFFSET(overhead_calls)},
    };

    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        if (sum_of(unified, sums[i].calls) > 0)
            set_number(archive, sums[i].name, sum_of(unified, sums[i].count));
    }
}

/* All ranks record the same calibration, but a damaged or missing log lacks it. */
static void set_calibration(struct sg_archive *archive, const struct sg_unified *unified)
{
    char text[SG_CALIBRATION_BYTES];

    for (int i = 0; i < unified->summary_count; i++) {
        if (sg_calibration_is_empty(&unified->summaries[i].calibration))
            continue;
        sg_calibration_print(&unified->summaries[i].calibration, text);
        set_text(archive, SG_PROPERTY_CALIBRATION, text);
        return;
    }
}

static void set_waiting(struct sg_archive *archive, const struct sg_unified *unified)
{
    struct sg_run_waiting run = {0};
    const char *fields = (const char *)&run;

    for (int i = 0; i < unified->summary_count; i++)
        sg_waiting_add(&run, &unified->summaries[i].waiting, unified->summaries[i].host);
    if (run.told == 0)
        return;
    set_text(archive, SG_PROPERTY_WAIT_MODE, sg_wait_mode_names[run.mode]);
    for (size_t i = 0; i < sizeof sg_wait_texts / sizeof *sg_wait_texts; i++) {
        if (fields[sg_wait_texts[i].offset] != '\0')
            set_text(archive, sg_wait_texts[i].name, fields + sg_wait_texts[i].offset);
    }
    for (size_t i = 0; i < sizeof sg_wait_numbers / sizeof *sg_wait_numbers; i++)
        set_number(archive, sg_wait_numbers[i].name,
                   *(const uint64_t *)(fields + sg_wait_numbers[i].offset));
}

/* Lists each missing source with the number of ranks that lack it: "counters=4;quota=2". */
static void set_lacking(struct sg_archive *archive, const struct sg_summary_causes *causes)
{
    char text[SG_SOURCE_COUNT * 48];
    int length = 0;

    for (int source = 0; source < SG_SOURCE_COUNT; source++) {
        if (causes->lacking[source] > 0)
            length += snprintf(text + length, sizeof text - (size_t)length, "%s%s=%" PRIu64,
                               length > 0 ? ";" : "", sg_source_table[source].name,
                               causes->lacking[source]);
    }
    if (length > 0)
        set_text(archive, SG_PROPERTY_CAUSES_LACKING, text);
}

static void set_causes(struct sg_archive *archive, const struct sg_unified *unified)
{
    static const char *const modes[] = {"off", "sample", "all"};
    struct sg_summary_causes causes = {0};

    for (int i = 0; i < unified->summary_count; i++)
        sg_summary_causes_add(&causes, &unified->summaries[i].causes);
    if (causes.ranks == 0)
        return;
    set_text(archive, SG_PROPERTY_CAUSES, modes[causes.mode]);
    set_number(archive, SG_PROPERTY_CAUSES_INTERVALS, causes.intervals);
    set_number(archive, SG_PROPERTY_CAUSES_LEFT_OUT, causes.left_out);
    set_number(archive, SG_PROPERTY_CAUSES_COST, causes.cost_ns);
    set_number(archive, SG_PROPERTY_CAUSES_TIME, causes.time_ns);
    set_lacking(archive, &causes);
}

/* Events of one function that one rank left out. Sorted by name, so that one function's entries
 * are adjacent. */
struct left_out {
    const char *name;
    uint64_t events;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct left_out *)a)->name, ((const struct left_out *)b)->name);
}

static bool collect_left_out(const struct sg_unified *unified, struct left_out **out, size_t *count)
{
    for (int i = 0; i < unified->summary_count; i++) {
        const struct sg_summary *summary = &unified->summaries[i];

        for (uint32_t f = 0; f < summary->calls.function_count; f++) {
            struct left_out one = {summary->calls.functions[f].name,
                                   summary->calls.functions[f].left_out};

            if (one.events > 0 && !SG_APPEND(*out, *count, one))
                return false;
        }
    }
    if (*count > 1)
        qsort(*out, *count, sizeof **out, by_name);
    return true;
}

static void set_left_out(struct sg_archive *archive, const struct sg_unified *unified)
{
    struct left_out *all = NULL;
    char *text = NULL;
    size_t count = 0, size_bytes = 0;
    FILE *stream = open_memstream(&text, &size_bytes);

    if (stream == NULL || !collect_left_out(unified, &all, &count)) {
        sg_archive_note(archive, SG_ERR_MEMORY);
        count = 0;
    }
    for (size_t i = 0; i < count;) {
        const char *name = all[i].name;
        uint64_t events = 0;

        fprintf(stream, i > 0 ? " %s" : "%s", name);
        for (; i < count && strcmp(all[i].name, name) == 0; i++)
            events += all[i].events;
        fprintf(stream, "=%" PRIu64, events);
    }
    if (stream != NULL)
        fclose(stream);
    if (count > 0 && text != NULL)
        set_text(archive, SG_PROPERTY_LEFT_OUT, text);
    free(text);
    free(all);
}

/* From the earliest of the ranks' first losses on, the events show only a part of the run. */
static void set_recorded(struct sg_archive *archive, const struct sg_unified *unified,
                         uint64_t begin_ns)
{
    uint64_t until_ns = UINT64_MAX, wanted_bytes = 0, off_ns = 0;

    for (int i = 0; i < unified->summary_count; i++) {
        const struct sg_summary *summary = &unified->summaries[i];
        uint64_t since_ns = sg_summary_global_ns(summary, summary->dropped_since_ns);

        if (summary->dropped_since_ns > 0 && since_ns < until_ns)
            until_ns = since_ns;
        if (summary->wanted_bytes > wanted_bytes)
            wanted_bytes = summary->wanted_bytes;
        if (summary->off_ns > off_ns)
            off_ns = summary->off_ns;
    }
    if (until_ns < UINT64_MAX && until_ns > begin_ns)
        set_number(archive, SG_PROPERTY_RECORDED, until_ns - begin_ns);
    if (until_ns < UINT64_MAX && wanted_bytes > 0)
        set_number(archive, SG_PROPERTY_WANTED_BYTES, wanted_bytes);
    if (off_ns > 0)
        set_number(archive, SG_PROPERTY_OFF, off_ns);
}

void sg_properties_set(struct sg_archive *archive, const struct sg_unified *unified,
                       const char *machine, uint64_t begin_ns)
{
    OTF2_Archive *handle = archive->handle;

    sg_archive_check(archive, OTF2_Archive_SetCreator(handle, "stagger " SG_VERSION));
    sg_archive_check(archive, OTF2_Archive_SetMachineName(handle, machine));
    sg_archive_check(archive, OTF2_Archive_SetDescription(handle, unified->summaries[0].program));
    set_text(archive, SG_PROPERTY_PARTIAL, unified->partial ? "1" : "0");
    set_number(archive, SG_PROPERTY_DROPPED, unified->dropped);
    set_recorded(archive, unified, begin_ns);
    if (unified->trial_block > 0)
        set_number(archive, SG_PROPERTY_TRIAL_BLOCK, unified->trial_block);
    set_left_out(archive, unified);
    set_sums(archive, unified);
    set_calibration(archive, unified);
    set_waiting(archive, unified);
    set_causes(archive, unified);
}
