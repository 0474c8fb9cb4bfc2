/* Reads and writes calibrations as text, the form in which an archive's property holds them; finds
 * the cores that share a cache. */
#include "core/calibration.h"

#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST 1e9
#define NAME_BYTES 48

const char *const sg_calibrated_names[SG_CALIBRATED_COUNT] = {
    [SG_CALIBRATED_LATENCY] = "latency_us",
    [SG_CALIBRATED_OVERHEAD] = "overhead_us",
    [SG_CALIBRATED_GAP] = "gap_ns_per_byte",
    [SG_CALIBRATED_INSIDE_LATENCY] = "inside_latency_us",
    [SG_CALIBRATED_INSIDE_OVERHEAD] = "inside_overhead_us",
    [SG_CALIBRATED_INSIDE_GAP] = "inside_gap_ns_per_byte",
    [SG_CALIBRATED_COPY] = "copy_ns_per_byte",
    [SG_CALIBRATED_REDUCE] = "reduce_ns_per_byte",
    [SG_CALIBRATED_SIGNAL] = "signal_us",
    [SG_CALIBRATED_WAKE] = "wake_us",
    [SG_CALIBRATED_LOCAL] = "local_us",
    [SG_CALIBRATED_SLICE] = "slice_us",
    [SG_CALIBRATED_PROCESSORS] = "processors",
    [SG_CALIBRATED_RANKS] = "ranks",
    [SG_CALIBRATED_SPREAD] = "spread",
    [SG_CALIBRATED_SAMPLES] = "samples",
};

void sg_calibration_print(const struct sg_calibration *calibration, char text[SG_CALIBRATION_BYTES])
{
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < SG_CALIBRATED_COUNT && used < SG_CALIBRATION_BYTES; i++) {
        if (calibration->value[i] > 0)
            used += (size_t)snprintf(text + used, SG_CALIBRATION_BYTES - used, "%s%s=%.6g",
                                     used > 0 ? " " : "", sg_calibrated_names[i],
                                     calibration->value[i]);
    }
}

static void take(const char *name, size_t length, double value, struct sg_calibration *out)
{
    for (int i = 0; i < SG_CALIBRATED_COUNT; i++) {
        if (strlen(sg_calibrated_names[i]) == length &&
            memcmp(sg_calibrated_names[i], name, length) == 0)
            out->value[i] = value;
    }
}

void sg_calibration_parse(const char *text, struct sg_calibration *out)
{
    *out = (struct sg_calibration){{0}};
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        size_t length = strcspn(text, "= ");

        if (length < word && length < NAME_BYTES &&
            (isdigit((unsigned char)text[length + 1]) || text[length + 1] == '.')) {
            char *end;
            double value = strtod(text + length + 1, &end);

            if (end == text + word && isfinite(value) && value >= 0 && value <= LARGEST)
                take(text, length, value, out);
        }
        text += word;
        text += strspn(text, " ");
    }
}

#define CACHES_MAX 16
#define LINE_BYTES 512

/* Reads the first line of a file of the first processor; false: no such file. */
static bool read_line(const char *sys, const char *name, char line[LINE_BYTES])
{
    char path[4096];
    FILE *file;
    bool got;

    snprintf(path, sizeof path, "%s/devices/system/cpu/cpu0/%s", sys, name);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    got = fgets(line, LINE_BYTES, file) != NULL;
    fclose(file);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got;
}

/* "0-7,64-71" gives 16; 0: no such list. */
static int count_listed(const char *text)
{
    struct sg_rank_list list;
    int count = 0;

    if (!sg_rank_list_parse(text, &list))
        return 0;
    for (uint32_t i = 0; i < list.count; i++)
        count += (int)(list.ranges[i].last - list.ranges[i].first) + 1;
    return count;
}

int sg_caches_cores(const char *sys)
{
    char name[64], line[LINE_BYTES];
    int last_level = 0, sharing = 0, threads = 1;

    for (int i = 0; i < CACHES_MAX; i++) {
        int level;

        snprintf(name, sizeof name, "cache/index%d/level", i);
        if (!read_line(sys, name, line) || sscanf(line, "%d", &level) != 1)
            break;
        snprintf(name, sizeof name, "cache/index%d/shared_cpu_list", i);
        if (level > last_level && read_line(sys, name, line)) {
            last_level = level;
            sharing = count_listed(line);
        }
    }
    if (read_line(sys, "topology/thread_siblings_list", line))
        threads = count_listed(line);
    return threads > 1 ? sharing / threads : sharing;
}
