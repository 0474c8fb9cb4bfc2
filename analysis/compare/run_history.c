#include "compare/run_history.h"

#include "core/file.h"
#include "core/hash.h"
#include "core/launch.h"
#include "core/room.h"
#include "output/format.h"
#include "output/json_output.h"
#include "output/output_file.h"
#include "report/profile_calls.h"
#include "report/report_columns.h"
#include "report/wait_print.h"
#include "report/wait_sums.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT 1
#define FILE_BYTES_MAX 16384
#define SUFFIX ".run.json"
#define SITE_COLUMNS 100

/* ---- the file of a run ----------------------------------------------------------------------- */

/* malloc'ed; NULL: no memory. */
static char *join(const char *directory, const char *name)
{
    char *path;

    return asprintf(&path, "%s/%s", directory, name) >= 0 ? path : NULL;
}

/* A run began when its configuration was written. */
static bool time_of(const char *run, struct timespec *begun)
{
    char *file = join(run, SG_RUN_FILE);
    struct stat info;
    bool found = file != NULL && (lstat(file, &info) == 0 || stat(run, &info) == 0);

    free(file);
    if (found)
        *begun = info.st_mtim;
    else
        sg_log("%s: %m", run);
    return found;
}

/* The path of a run's file: by the time, and the name of its directory. NULL: no memory. */
static char *file_of(const char *directory, const char *run, const struct timespec *begun)
{
    size_t length = strlen(run), first;
    uint64_t hash;
    char *path;

    while (length > 1 && run[length - 1] == '/')
        length--;
    for (first = length; first > 0 && run[first - 1] != '/'; first--)
        ;
    hash = sg_hash_bytes(0, run + first, length - first);
    hash = sg_hash_mix(sg_hash_word(hash, (uint64_t)begun->tv_nsec));
    if (asprintf(&path, "%s/%012lld-%08x" SUFFIX, directory, (long long)begun->tv_sec,
                 (unsigned)hash) < 0)
        return NULL;
    return path;
}

/* The call site with the most waiting, or, without events, with the most time in MPI. */
static json_t *site_of(const struct sg_report *report)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    json_t *site;

    if (stream == NULL)
        return NULL;
    if (report->waitstates != NULL && report->waitstates->site_count > 0) {
        sg_waitstate_put_place(&report->waitstates->sites[0].at, stream);
    } else if (report->calls != NULL && report->calls->site_count > 0) {
        const struct sg_call_row *row = &report->calls->sites[0];
        char *place = sg_site_text("site", NULL, &row->place);

        fprintf(stream, "%s %s", row->function, place != NULL ? place : "");
        free(place);
    }
    if (fclose(stream) != 0) {
        free(text);
        return NULL;
    }
    sg_format_shorten(text, SITE_COLUMNS);
    site = sg_json_text(size > 0 ? text : NULL);
    free(text);
    return site;
}

static json_t *figure_of(const struct sg_report *report, enum sg_whole whole)
{
    uint64_t ns = 0;
    bool known = sg_whole_of(report, whole, &ns);

    return sg_json_count(known, ns);
}

static json_t *summary_of(const struct sg_report *report, const struct timespec *begun,
                          const char *label)
{
    return json_pack(
        "{s:i, s:I, s:o, s:o, s:I, s:b, s:o, s:o, s:o, s:o, s:o}", "stagger_run", FORMAT,
        "begun_ms", (json_int_t)begun->tv_sec * 1000 + begun->tv_nsec / 1000000, "label",
        sg_json_text(label), "program", sg_json_text(report->program), "ranks",
        (json_int_t)report->rank_count, "partial", report->partial, "run_ns",
        figure_of(report, SG_WHOLE_RUN), "waiting_ns", figure_of(report, SG_WHOLE_WAITING),
        "mpi_ns", figure_of(report, SG_WHOLE_MPI), "processor_ns",
        sg_json_count(true, report->ranks_run_ns), "site", site_of(report));
}

static enum sg_status write_summary(const char *path, json_t *summary)
{
    struct sg_output_file file;
    enum sg_status status = sg_output_file_open(path, &file);

    if (status != SG_OK) {
        json_decref(summary);
        return status;
    }
    return sg_output_file_close(&file, sg_json_print(summary, 12, "history", file.stream));
}

static enum sg_status add_at(const char *path, const char *run, const struct timespec *begun,
                             const char *label)
{
    struct sg_watch watch = {.calls = true, .waitstates = true};
    struct sg_report report = {0};
    enum sg_status status = sg_report_read(run, true, &watch, &report);

    if (status == SG_OK)
        status = write_summary(path, summary_of(&report, begun, label));
    sg_report_clear(&report);
    return status;
}

enum sg_status sg_run_history_add(const char *directory, const char *run, const char *label)
{
    struct timespec begun;
    enum sg_status status = SG_ERR_SYSTEM;
    char *path;

    if (!time_of(run, &begun))
        return status;
    path = file_of(directory, run, &begun);
    status = path != NULL ? add_at(path, run, &begun, label) : SG_ERR_MEMORY;
    if (path == NULL)
        sg_log("history: out of memory");
    free(path);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static const char *text_of(const json_t *root, const char *name)
{
    return json_string_value(json_object_get(root, name));
}

/* NAN: unknown, or no count. */
static double number_of(const json_t *root, const char *name)
{
    const json_t *value = json_object_get(root, name);
    double number = json_is_integer(value) ? (double)json_integer_value(value) : NAN;

    return number >= 0 ? number : NAN;
}

static char *copy_of(const char *text)
{
    return text != NULL ? strdup(text) : NULL;
}

static bool parse(const json_t *root, struct sg_run_history_run *out)
{
    double begun_ms = number_of(root, "begun_ms"), ranks = number_of(root, "ranks");
    double run_ns = number_of(root, "run_ns"), processor_ns = number_of(root, "processor_ns");

    if (number_of(root, "stagger_run") != FORMAT || isnan(begun_ms) || isnan(run_ns) ||
        !(ranks > 0 && ranks <= INT32_MAX))
        return false;
    *out =
        (struct sg_run_history_run){.begun_ms = (int64_t)begun_ms,
                                    .label = copy_of(text_of(root, "label")),
                                    .program = copy_of(text_of(root, "program")),
                                    .site = copy_of(text_of(root, "site")),
                                    .ranks = (uint32_t)ranks,
                                    .is_partial = json_is_true(json_object_get(root, "partial"))};
    out->of[SG_WHOLE_RUN].value = run_ns;
    out->of[SG_WHOLE_WAITING].value = number_of(root, "waiting_ns") / processor_ns;
    out->of[SG_WHOLE_MPI].value = number_of(root, "mpi_ns") / processor_ns;
    for (int i = 0; i < SG_WHOLE_COUNT; i++) {
        if (!isfinite(out->of[i].value))
            out->of[i].value = NAN;
    }
    return true;
}

/* Returns false if the file is no summary, which one line says. */
static bool read_file(const char *path, struct sg_run_history_run *out)
{
    char text[FILE_BYTES_MAX];
    json_error_t error;
    json_t *root;
    ssize_t size;
    int file, failed = sg_file_open(path, O_NOFOLLOW, &file);
    bool is_summary;

    if (failed != 0) {
        sg_log("%s: %s; left out", path, sg_file_error(failed));
        return false;
    }
    size = read(file, text, sizeof text);
    close(file);
    root = size > 0 && size < FILE_BYTES_MAX ? json_loadb(text, (size_t)size, 0, &error) : NULL;
    is_summary = root != NULL && parse(root, out);
    json_decref(root);
    if (!is_summary)
        sg_log("%s: not the summary of a run; left out", path);
    return is_summary;
}

static void clear_run(struct sg_run_history_run *run)
{
    free(run->label);
    free(run->program);
    free(run->site);
}

static bool has_suffix(const char *name)
{
    size_t length = strlen(name), suffix = strlen(SUFFIX);

    return name[0] != '.' && length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
}

/* Adds the run in a directory of the history unless it has its file already. */
static enum sg_status add_directory(const char *directory, const char *run)
{
    char *file = join(run, SG_RUN_FILE), *path;
    struct timespec begun;
    struct stat info;
    enum sg_status status = SG_OK;
    bool is_run = file != NULL && lstat(file, &info) == 0 && S_ISREG(info.st_mode);

    free(file);
    if (!is_run || !time_of(run, &begun))
        return SG_OK;
    path = file_of(directory, run, &begun);
    if (path == NULL)
        status = SG_ERR_MEMORY;
    else if (lstat(path, &info) != 0)
        status = add_at(path, run, &begun, NULL);
    free(path);
    return status == SG_ERR_MEMORY ? status : SG_OK; /* a run that cannot be read is left out */
}

typedef enum sg_status each_entry(const char *directory, const char *path, const char *name,
                                  void *context);

/* Calls `each` for the entries that are no hidden files, until it fails. */
static enum sg_status for_each(const char *directory, each_entry *each, void *context)
{
    DIR *stream = opendir(directory);
    struct dirent *entry;
    enum sg_status status = SG_OK;

    if (stream == NULL) {
        sg_log("%s: %m", directory);
        return SG_ERR_SYSTEM;
    }
    while (status == SG_OK && (entry = readdir(stream)) != NULL) {
        char *path;

        if (entry->d_name[0] == '.')
            continue;
        path = join(directory, entry->d_name);
        status = path != NULL ? each(directory, path, entry->d_name, context) : SG_ERR_MEMORY;
        free(path);
    }
    closedir(stream);
    return status;
}

static enum sg_status note_directory(const char *directory, const char *path, const char *name,
                                     void *context)
{
    struct stat info;

    if (lstat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return SG_OK;
    return add_directory(directory, path);
}

static enum sg_status note_file(const char *directory, const char *path, const char *name,
                                void *context)
{
    struct sg_run_history *history = context;
    struct sg_run_history_run run;

    if (!has_suffix(name))
        return SG_OK;
    if (history->count + history->refused_count >= SG_RUN_HISTORY_FILES_MAX) {
        sg_log("%s: more than %u runs", directory, SG_RUN_HISTORY_FILES_MAX);
        return SG_ERR_FORMAT;
    }
    if (!read_file(path, &run)) {
        history->refused_count++;
        return SG_OK;
    }
    if (SG_APPEND(history->runs, history->count, run))
        return SG_OK;
    clear_run(&run);
    return SG_ERR_MEMORY;
}

static int compare_runs(const void *left, const void *right)
{
    const struct sg_run_history_run *a = left, *b = right;

    if (a->begun_ms != b->begun_ms)
        return a->begun_ms < b->begun_ms ? -1 : 1;
    return strcmp(a->label != NULL ? a->label : "", b->label != NULL ? b->label : "");
}

static bool is_like(const struct sg_run_history_run *run, const struct sg_run_history_run *newest)
{
    return run->ranks == newest->ranks &&
           strcmp(run->program != NULL ? run->program : "",
                  newest->program != NULL ? newest->program : "") == 0;
}

/* Keeps the runs of the newest run's program and number of ranks. */
static void keep_alike(struct sg_run_history *history)
{
    struct sg_run_history_run newest = history->runs[history->count - 1];
    uint32_t kept = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        if (is_like(&history->runs[i], &newest))
            history->runs[kept++] = history->runs[i];
        else
            clear_run(&history->runs[i]);
    }
    history->other_count = history->count - kept;
    history->count = kept;
}

enum sg_status sg_run_history_read(const char *directory, struct sg_run_history *out)
{
    struct sg_run_history history = {0};
    enum sg_status status = for_each(directory, note_directory, NULL);

    if (status == SG_OK)
        status = for_each(directory, note_file, &history);
    if (status == SG_ERR_MEMORY)
        sg_log("history: out of memory");
    if (status == SG_OK && history.count == 0) {
        sg_log("%s: no run; name one: stagger compare --history DIR RUN...", directory);
        status = SG_ERR_MISSING;
    }
    if (status != SG_OK) {
        sg_run_history_clear(&history);
        return status;
    }
    qsort(history.runs, history.count, sizeof *history.runs, compare_runs);
    keep_alike(&history);
    sg_run_history_judge(&history);
    *out = history;
    return SG_OK;
}

void sg_run_history_clear(struct sg_run_history *history)
{
    for (uint32_t i = 0; i < history->count; i++)
        clear_run(&history->runs[i]);
    free(history->runs);
    *history = (struct sg_run_history){0};
}

/* ---- levels ---------------------------------------------------------------------------------- */

#define SIGMA_BY_DISTANCE 1.4826 /* of a normal distribution, by the median distance */
#define SIGMAS 3
/* The least reach of a band: of a run time 2 % of it, of a share half a percent of the whole. */
#define LEAST_OF_RUN 0.02
#define LEAST_OF_SHARE 0.005

static int compare_numbers(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median_of(double *values, uint32_t count)
{
    qsort(values, count, sizeof *values, compare_numbers);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The last SG_RUN_HISTORY_BAND known values of the runs [first, end). Returns their number. */
static uint32_t take(const struct sg_run_history *history, int figure, uint32_t first, uint32_t end,
                     double values[SG_RUN_HISTORY_BAND])
{
    uint32_t count = 0;

    for (uint32_t i = end; i > first && count < SG_RUN_HISTORY_BAND; i--) {
        double value = history->runs[i - 1].of[figure].value;

        if (!isnan(value))
            values[count++] = value;
    }
    return count;
}

/* Sets the band of a run from those before it at its level. Returns the median; NAN: no band. */
static double set_band(const struct sg_run_history *history, int figure, uint32_t first,
                       uint32_t run)
{
    struct sg_run_history_mark *mark = &history->runs[run].of[figure];
    double values[SG_RUN_HISTORY_BAND], median, reach;
    uint32_t count = take(history, figure, first, run, values);

    mark->low = mark->high = NAN;
    if (count < SG_RUN_HISTORY_FEWEST)
        return NAN;
    median = median_of(values, count);
    for (uint32_t i = 0; i < count; i++)
        values[i] = fabs(values[i] - median);
    reach = SIGMAS * SIGMA_BY_DISTANCE * median_of(values, count);
    reach = fmax(reach, figure == SG_WHOLE_RUN ? LEAST_OF_RUN * median : LEAST_OF_SHARE);
    mark->low = fmax(0, median - reach);
    mark->high = median + reach;
    return median;
}

static void judge(struct sg_run_history *history, int figure)
{
    uint32_t first = 0, streak = 0, begun = 0, count;
    double values[SG_RUN_HISTORY_BAND], before = NAN;
    int side = 0;

    history->change[figure] = history->count;
    for (uint32_t i = 0; i < history->count; i++) {
        struct sg_run_history_mark *mark = &history->runs[i].of[figure];
        double median = set_band(history, figure, first, i);
        int now = mark->value > mark->high ? 1 : mark->value < mark->low ? -1 : 0;

        if (isnan(mark->value))
            continue;
        if (now == 0 || now != side) {
            streak = 0;
            begun = i;
            before = median;
        }
        side = now;
        streak += now != 0;
        if (streak < SG_RUN_HISTORY_STREAK)
            continue;
        history->runs[begun].of[figure].is_changed = true;
        history->runs[begun].of[figure].before = before;
        history->runs[begun].of[figure].now =
            median_of(values, take(history, figure, begun, i + 1, values));
        history->change[figure] = first = begun;
        streak = 0;
        side = 0;
    }
    history->first[figure] = first;
    count = take(history, figure, first, history->count, values);
    history->level[figure] = count > 0 ? median_of(values, count) : NAN;
}

void sg_run_history_judge(struct sg_run_history *history)
{
    for (int figure = 0; figure < SG_WHOLE_COUNT; figure++)
        judge(history, figure);
}

bool sg_run_history_has_changed(const struct sg_run_history *history)
{
    uint32_t change = history->change[SG_WHOLE_RUN];

    return change < history->count && history->count - change <= SG_RUN_HISTORY_BAND;
}
