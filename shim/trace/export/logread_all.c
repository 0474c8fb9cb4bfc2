/* Opens all logs of a run: each readable DIR/rank-NNNNNN.log, with one line logged for each rank
 * without one (up to a limit). Also waits for the end of a run, and implements the names of call
 * paths, gaps and sets of logread_all.h. */
#include "trace/export/logread_all.h"

#include "core/room.h"
#include "core/text.h"
#include "trace/export/logread.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SPOKEN_LIMIT 8
#define LOOK_MS 20

struct refused_log {
    int rank;
    struct sg_refusal why;
};

struct log_set {
    const char *directory;
    struct sg_logread **logs;
    int count;
    struct refused_log *refused; /* unreadable files with the names of logs */
    int refused_count;
    enum sg_status status; /* SG_ERR_MEMORY: the set is incomplete */
};

/* Returns the rank in a log's file name, or -1. */
static int rank_of_name(const char *name)
{
    char expected[32];
    long rank;

    if (strncmp(name, "rank-", 5) != 0)
        return -1;
    errno = 0;
    rank = strtol(name + 5, NULL, 10);
    if (errno != 0 || rank < 0 || rank >= SG_WORLD_LIMIT)
        return -1;
    snprintf(expected, sizeof expected, SG_LOG_NAME_FORMAT, (int)rank);
    return strcmp(name, expected) == 0 ? (int)rank : -1;
}

bool sg_logread_visit(const char *directory, sg_logread_visitor visitor, void *context)
{
    DIR *stream = opendir(directory);
    struct dirent *entry;
    bool goes_on = true;
    char path[PATH_MAX + 32]; /* if the directory opens, a log's name fits */

    if (stream == NULL)
        return false;
    while (goes_on && (entry = readdir(stream)) != NULL) {
        int rank = rank_of_name(entry->d_name);

        if (rank < 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        goes_on = visitor(context, path, rank);
    }
    closedir(stream);
    return true;
}

static bool note_any(void *found, const char *path, int rank)
{
    *(bool *)found = true;
    return false;
}

bool sg_logread_any(const char *directory)
{
    bool found = false;

    sg_logread_visit(directory, note_any, &found);
    return found;
}

bool sg_logread_suffice(int logs, int world_size)
{
    return (world_size - logs) / SG_LOGREAD_MISSING_PER_LOG < logs;
}

/* ---- the logs of one run -------------------------------------------------------------------- */

static bool keep_log(struct log_set *set, struct sg_logread *log)
{
    if (!sg_make_room((void **)&set->logs, (size_t)set->count, sizeof(struct sg_logread *))) {
        set->status = SG_ERR_MEMORY;
        return false;
    }
    set->logs[set->count++] = log;
    return true;
}

static bool keep_refusal(struct log_set *set, int rank, const struct sg_refusal *why)
{
    if (!sg_make_room((void **)&set->refused, (size_t)set->refused_count, sizeof *set->refused)) {
        set->status = SG_ERR_MEMORY;
        return false;
    }
    set->refused[set->refused_count++] = (struct refused_log){.rank = rank, .why = *why};
    return true;
}

static bool add_log(void *context, const char *path, int rank)
{
    static const struct sg_refusal other_rank = {SG_ERR_FORMAT, "belongs to another rank"};
    struct log_set *set = context;
    struct sg_logread *log;
    struct sg_refusal why;

    if (sg_logread_try(path, &log, &why) != SG_OK) {
        if (why.status == SG_ERR_MEMORY)
            set->status = SG_ERR_MEMORY;
        return set->status == SG_OK && keep_refusal(set, rank, &why);
    }
    if (sg_logread_header(log)->rank == rank && keep_log(set, log))
        return true;
    sg_logread_close(log);
    return set->status == SG_OK && keep_refusal(set, rank, &other_rank);
}

static int by_log_rank(const void *a, const void *b)
{
    struct sg_logread *const *left = a;
    struct sg_logread *const *right = b;

    return sg_logread_header(*left)->rank - sg_logread_header(*right)->rank;
}

static int by_refused_rank(const void *a, const void *b)
{
    const struct refused_log *left = a;
    const struct refused_log *right = b;

    return left->rank - right->rank;
}

/* Leaves out logs of runs other than the first log's. */
static void keep_one_run(struct log_set *set)
{
    static const struct sg_refusal other_run = {SG_ERR_FORMAT, "belongs to another run"};
    const struct sg_log_header *first = sg_logread_header(set->logs[0]);
    int kept = 0;

    for (int i = 0; i < set->count; i++) {
        const struct sg_log_header *header = sg_logread_header(set->logs[i]);

        if (header->world_size == first->world_size && strcmp(header->unique, first->unique) == 0) {
            set->logs[kept++] = set->logs[i];
            continue;
        }
        keep_refusal(set, header->rank, &other_run);
        sg_logread_close(set->logs[i]);
    }
    set->count = kept;
}

static void say_missing(const struct log_set *set, int world_size)
{
    int missing = world_size - set->count;
    int spoken = 0;
    int next = 0;

    for (int rank = 0; rank < world_size && spoken < missing && spoken < SPOKEN_LIMIT; rank++) {
        struct refused_log key = {.rank = rank};
        const struct refused_log *refused;

        if (next < set->count && sg_logread_header(set->logs[next])->rank == rank) {
            next++;
            continue;
        }
        refused = set->refused_count == 0 ? NULL
                                          : bsearch(&key, set->refused, (size_t)set->refused_count,
                                                    sizeof key, by_refused_rank);
        if (refused != NULL)
            sg_log("%s/" SG_LOG_NAME_FORMAT ": %s", set->directory, rank, refused->why.reason);
        else
            sg_log("%s: no log of rank %d", set->directory, rank);
        spoken++;
    }
    if (missing > SPOKEN_LIMIT)
        sg_log("%s: %d ranks have no readable log", set->directory, missing);
}

static enum sg_status say_too_few(const struct log_set *set, int world_size)
{
    sg_log("%s: " SG_LOGREAD_TOO_FEW, set->directory, set->count, world_size,
           SG_LOGREAD_MISSING_PER_LOG);
    return SG_ERR_FORMAT;
}

/* Logs one line if no log can be read: about the lowest rank's, if there is one. */
static enum sg_status say_none(const struct log_set *set)
{
    if (set->refused_count == 0) {
        sg_log("%s: contains no logs of a run (" SG_LOG_NAME_FORMAT ", ...)", set->directory, 0);
        return SG_ERR_MISSING;
    }
    sg_log("%s/" SG_LOG_NAME_FORMAT ": %s", set->directory, set->refused[0].rank,
           set->refused[0].why.reason);
    return set->refused[0].why.status;
}

/* Opens all readable logs, by rank. SG_ERR_SYSTEM, SG_ERR_MEMORY: logs one line. */
static enum sg_status read_directory(struct log_set *set)
{
    if (!sg_logread_visit(set->directory, add_log, set)) {
        sg_log("%s: %m", set->directory);
        return SG_ERR_SYSTEM;
    }
    if (set->count > 0) {
        qsort(set->logs, (size_t)set->count, sizeof(struct sg_logread *), by_log_rank);
        keep_one_run(set);
    }
    if (set->refused_count > 0)
        qsort(set->refused, (size_t)set->refused_count, sizeof *set->refused, by_refused_rank);
    if (set->status != SG_OK)
        sg_log("%s: %s", set->directory, sg_status_text(set->status));
    return set->status;
}

enum sg_status sg_logread_open_all(const char *directory, struct sg_logread ***logs, int *count,
                                   int *world_size, int *missing)
{
    struct log_set set = {.directory = directory};
    enum sg_status status = read_directory(&set);
    int ranks = set.count > 0 ? sg_logread_header(set.logs[0])->world_size : 0;

    if (status == SG_OK && set.count == 0)
        status = say_none(&set);
    else if (status == SG_OK && !sg_logread_suffice(set.count, ranks))
        status = say_too_few(&set, ranks);
    if (status != SG_OK)
        goto err_close;
    *logs = set.logs;
    *count = set.count;
    *world_size = ranks;
    *missing = ranks - set.count;
    say_missing(&set, ranks);
    free(set.refused);
    return SG_OK;

err_close:
    for (int i = 0; i < set.count; i++)
        sg_logread_close(set.logs[i]);
    free(set.logs);
    free(set.refused);
    return status;
}

/* ---- runs in progress ------------------------------------------------------------------------ */

static bool note_living(void *lives, const char *path, int rank)
{
    struct sg_refusal why;
    struct sg_logread *log;

    if (sg_logread_try(path, &log, &why) == SG_OK) {
        *(bool *)lives = sg_logread_lives(log);
        sg_logread_close(log);
    }
    return !*(bool *)lives;
}

static bool any_lives(const char *directory)
{
    bool lives = false;

    sg_logread_visit(directory, note_living, &lives);
    return lives;
}

void sg_logread_await_end(const char *directory, int most_ms)
{
    const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};

    for (int waited_ms = 0; waited_ms < most_ms && any_lives(directory); waited_ms += LOOK_MS)
        nanosleep(&pause, NULL);
}

int sg_logread_count_living(struct sg_logread *const *logs, int count)
{
    int living = 0;

    for (int i = 0; i < count; i++)
        living += sg_logread_lives(logs[i]);
    return living;
}

/* ---- names of call paths --------------------------------------------------------------------- */

#define FRAMES_MAX 16
#define SEPARATOR " > "

/* One line of the callers: "OFFSET BUILD-ID MODULE". */
struct frame {
    uint64_t offset;
    const char *build_id; /* "": any */
    const char *module;
};

/* Parses the next line and advances *at past it. False: there is none, or it is incomplete. */
static bool take_frame(char **at, const char *module, struct frame *frame)
{
    char *line = strsep(at, "\n");
    char *build_id = line != NULL ? strchr(line, ' ') : NULL;
    char *path = build_id != NULL ? strchr(build_id + 1, ' ') : NULL;

    if (path == NULL)
        return false;
    *build_id++ = '\0';
    *path++ = '\0';
    frame->offset = strtoull(line, NULL, 16);
    frame->build_id = build_id;
    frame->module = *path != '\0' ? path : module;
    return true;
}

static void print_place(FILE *out, const char *module, uint64_t offset,
                        const struct sg_symbol *symbol)
{
    if (symbol->function == NULL && symbol->file == NULL)
        fprintf(out, "%s+0x%" PRIx64, sg_text_base_name(module), offset);
    if (symbol->function != NULL)
        fputs(symbol->function, out);
    if (symbol->file != NULL)
        fprintf(out, "%s%s:%" PRIu32, symbol->function != NULL ? " " : "",
                sg_text_base_name(symbol->file), symbol->line);
}

/* A path ends at main: its callers are not part of the program. */
static bool is_main(const struct sg_symbol *symbol)
{
    return symbol->function != NULL && strcmp(symbol->function, "main") == 0;
}

static void print_path(FILE *out, struct sg_symbols *symbols, const char *module,
                       const struct sg_symbol *own, uint64_t own_offset, char *callers)
{
    struct sg_symbol symbol[FRAMES_MAX];
    struct frame frame[FRAMES_MAX];
    int count = 0;
    bool ends = is_main(own);

    while (!ends && count < FRAMES_MAX && take_frame(&callers, module, &frame[count])) {
        sg_symbols_lookup(symbols, frame[count].module, frame[count].build_id, frame[count].offset,
                          &symbol[count]);
        ends = is_main(&symbol[count]);
        count++;
    }
    while (count-- > 0) {
        print_place(out, frame[count].module, frame[count].offset, &symbol[count]);
        fputs(SEPARATOR, out);
    }
    if (own->function != NULL)
        fputs(own->function, out);
    else
        fprintf(out, "%s+0x%" PRIx64, sg_text_base_name(module), own_offset);
}

const char *sg_callers_name(struct sg_symbols *symbols, const char *module,
                            const struct sg_symbol *symbol, uint64_t offset, const char *callers)
{
    char *copy, *text = NULL;
    const char *name = NULL;
    size_t size_bytes;
    FILE *out;

    if (callers[0] == '\0')
        return symbol->function;
    copy = strdup(callers);
    out = open_memstream(&text, &size_bytes);
    if (copy != NULL && out != NULL)
        print_path(out, symbols, module, symbol, offset, copy);
    if (out != NULL && fclose(out) == 0)
        name = sg_symbols_keep(symbols, text);
    free(text);
    free(copy);
    return name;
}

/* ---- reading the name of a call path --------------------------------------------------------- */

/* Returns the frame's length without the call site, " FILE:LINE", which frames with source
 * information have. */
static size_t without_place(const char *frame, size_t length)
{
    size_t at = length;

    while (at > 0 && frame[at - 1] >= '0' && frame[at - 1] <= '9')
        at--;
    if (at == length || at == 0 || frame[at - 1] != ':')
        return length;
    while (at > 0 && frame[at - 1] != ' ')
        at--;
    return at > 1 ? at - 1 : length;
}

bool sg_callers_next(const char **at, struct sg_callers_frame *frame)
{
    const char *end = *at != NULL ? strstr(*at, SEPARATOR) : NULL;

    if (*at == NULL)
        return false;
    frame->function = *at;
    frame->length = end != NULL ? without_place(*at, (size_t)(end - *at)) : strlen(*at);
    *at = end != NULL ? end + strlen(SEPARATOR) : NULL;
    return true;
}

bool sg_callers_are_named(const char *name)
{
    return strstr(name, SEPARATOR) != NULL;
}

/* ---- gaps between messages ------------------------------------------------------------------- */

enum sg_status sg_gaps_read(struct sg_gaps *gaps, const struct sg_record_gap *record)
{
    if (!sg_make_room((void **)&gaps->items, gaps->count, sizeof *gaps->items))
        return SG_ERR_MEMORY;
    gaps->items[gaps->count++] = (struct sg_gap){record->slot, record->is_send != 0, record->count};
    return SG_OK;
}

static int by_slot(const void *a, const void *b)
{
    const struct sg_gap *left = a, *right = b;

    if (left->slot != right->slot)
        return left->slot > right->slot ? 1 : -1;
    return left->is_send - right->is_send;
}

void sg_gaps_finish(struct sg_gaps *gaps)
{
    if (gaps->count > 1)
        qsort(gaps->items, gaps->count, sizeof *gaps->items, by_slot);
}

uint32_t sg_gaps_before(const struct sg_gaps *gaps, uint64_t slot, bool is_send)
{
    const struct sg_gap key = {.slot = slot, .is_send = is_send};
    const struct sg_gap *found =
        gaps->count > 0 ? bsearch(&key, gaps->items, gaps->count, sizeof key, by_slot) : NULL;

    return found != NULL ? found->count : 0;
}

void sg_gaps_clear(struct sg_gaps *gaps)
{
    free(gaps->items);
    *gaps = (struct sg_gaps){0};
}

/* ---- sets of instance numbers ---------------------------------------------------------------- */

static bool append(struct sg_intervals *set, uint64_t first, uint64_t last)
{
    if (!sg_make_room((void **)&set->runs, set->count, sizeof *set->runs))
        return false;
    set->runs[set->count++] = (struct sg_interval){first, last};
    return true;
}

bool sg_intervals_add(struct sg_intervals *set, uint64_t number)
{
    struct sg_interval *last = set->count > 0 ? &set->runs[set->count - 1] : NULL;

    if (last != NULL && last->last != UINT64_MAX && number == last->last + 1) {
        last->last = number;
        return true;
    }
    return append(set, number, number);
}

static int by_first(const void *a, const void *b)
{
    const struct sg_interval *left = a;
    const struct sg_interval *right = b;

    return (left->first > right->first) - (left->first < right->first);
}

bool sg_intervals_finish(struct sg_intervals *set)
{
    uint32_t kept = 0;

    if (set->count < 2)
        return true;
    qsort(set->runs, set->count, sizeof *set->runs, by_first);
    for (uint32_t i = 1; i < set->count; i++) {
        struct sg_interval *last = &set->runs[kept];

        if (set->runs[i].first <= last->last) {
            set->count = 0;
            return false;
        }
        if (set->runs[i].first == last->last + 1)
            last->last = set->runs[i].last;
        else
            set->runs[++kept] = set->runs[i];
    }
    set->count = kept + 1;
    return true;
}

bool sg_intervals_contain(const struct sg_intervals *set, uint64_t number)
{
    uint32_t low = 0, high = set->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (set->runs[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->count && set->runs[low].first <= number;
}

uint64_t sg_intervals_size(const struct sg_intervals *set)
{
    uint64_t size = 0;

    for (uint32_t i = 0; i < set->count; i++)
        size += set->runs[i].last - set->runs[i].first + 1;
    return size;
}

bool sg_intervals_fill(struct sg_intervals *set)
{
    return append(set, 0, UINT64_MAX);
}

bool sg_intervals_intersect(struct sg_intervals *set, const struct sg_intervals *other)
{
    struct sg_intervals both = {0};
    uint32_t i = 0, j = 0;

    while (i < set->count && j < other->count) {
        const struct sg_interval *a = &set->runs[i];
        const struct sg_interval *b = &other->runs[j];
        uint64_t first = a->first > b->first ? a->first : b->first;
        uint64_t last = a->last < b->last ? a->last : b->last;

        if (first <= last && !append(&both, first, last)) {
            sg_intervals_clear(&both);
            return false;
        }
        if (a->last < b->last)
            i++;
        else
            j++;
    }
    sg_intervals_clear(set);
    *set = both;
    return true;
}

void sg_intervals_pack(struct sg_pack *pack, struct sg_intervals *set)
{
    sg_pack_plain_table(pack, &set->runs, &set->count, sizeof *set->runs);
}

void sg_intervals_clear(struct sg_intervals *set)
{
    free(set->runs);
    *set = (struct sg_intervals){0};
}
