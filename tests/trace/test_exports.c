/* Tests archives of logs: those of exports.txt, which has their form, and large or damaged ones. */
#include "core/text.h"
#include "trace/export/logread_all.h"
#include "trace/export/summary.h"
#include "trace/export_setup.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>

#define FILE_NAME "tests/trace/exports.txt"
#define RANKS 8

#define OF_HEADER SG_RECORD_KINDS /* fields of the header, not of a record */

/* Requests are labels of a letter. */
struct log {
    bool is_begun;
    struct fabricated made;
    char functions[16][32]; /* those that have a record */
    uint64_t slots[128];    /* by label; 0: not yet used */
};

static struct log logs[RANKS];
static int world_size;

struct word {
    char name[32];
    int64_t number[8];
    uint64_t time_ns[4];
    char label;
    int repeats;
    uint64_t step_ns;
    char *fields; /* "name=value,..."; NULL: none */
};

/* Reads numbers with a mark between them; returns what follows. */
static char *read_numbers(char *text, char mark, int64_t *numbers, int *count)
{
    *count = 0;
    do
        numbers[(*count)++] = strtoll(text, &text, 0);
    while (*count < 8 && *text++ == mark);
    return text - (*count < 8);
}

static void parse_word(char *text, struct word *word)
{
    size_t length = strcspn(text, ":@#*,");
    int64_t numbers[8];
    int count;

    *word = (struct word){.repeats = 1};
    ASSERT(length < sizeof word->name);
    memcpy(word->name, text, length);
    for (text += length; *text != '\0' && *text != ',';) {
        switch (*text++) {
        case ':':
            text = read_numbers(text, '.', word->number, &count);
            break;
        case '@':
            text = read_numbers(text, '-', numbers, &count);
            for (int i = 0; i < count && i < 4; i++)
                word->time_ns[i] = (uint64_t)numbers[i];
            break;
        case '#':
            word->label = *text++;
            break;
        default: /* '*' */
            text = read_numbers(text, '/', numbers, &count);
            word->repeats = (int)numbers[0];
            word->step_ns = (uint64_t)numbers[1];
        }
    }
    word->fields = *text == ',' ? text + 1 : NULL;
}

/* Returns the text of a field, with blanks for underscores; "" if the word has none. */
static const char *field_text(const struct word *word, const char *name)
{
    static char texts[4][64];
    static unsigned next;
    char *text = texts[next++ % 4], pattern[32];

    snprintf(pattern, sizeof pattern, "%s=", name);
    const char *at = word->fields == NULL ? NULL : strstr(word->fields, pattern);
    snprintf(text, sizeof texts[0], "%.*s", at == NULL ? 0 : (int)strcspn(strchr(at, '='), ","),
             at == NULL ? "" : strchr(at, '='));
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
    return *text == '\0' ? text : text + 1;
}

static const uint32_t *field_members(const struct word *word)
{
    static uint32_t members[8];
    int64_t numbers[8];
    char text[64];
    int count;

    snprintf(text, sizeof text, "%s", field_text(word, "members"));
    if (*text == '\0')
        return NULL;
    read_numbers(text, '.', numbers, &count);
    for (int i = 0; i < count; i++)
        members[i] = (uint32_t)numbers[i];
    return members;
}

/* ---- fields of records ----------------------------------------------------------------------- */

#define SET(field)                                                                                 \
    ({                                                                                             \
        bool is_named = strcmp(name, #field) == 0;                                                 \
                                                                                                   \
        if (is_named)                                                                              \
            of->field = value[0];                                                                  \
        is_named;                                                                                  \
    })

static bool set_call(struct sg_record_call *of, const char *name, const int64_t *value)
{
    return SET(operation) || SET(executed) || SET(flags) || SET(site) || SET(thread) ||
           SET(stalls) || SET(copies) || SET(bytes) || SET(moves) || SET(root) || SET(early) ||
           SET(late) || SET(signals) || SET(ignored) || SET(outstanding) || SET(skew_ns) ||
           SET(repeats);
}

static bool set_nonblocking(struct sg_record_nonblocking *of, const char *name,
                            const int64_t *value)
{
    return SET(operation) || SET(executed) || SET(flags) || SET(site) || SET(thread) ||
           SET(bytes) || SET(tests) || SET(root);
}

static bool set_late(struct sg_record_late *of, const char *name, const int64_t *value)
{
    return SET(operation) || SET(by_signal) || SET(site) || SET(comm) || SET(thread) ||
           SET(bytes) || SET(seq) || SET(child) || SET(avoided_ns);
}

static bool set_request(struct sg_record_request *of, const char *name, const int64_t *value)
{
    return SET(peer) || SET(tag) || SET(bytes);
}

static bool set_comm(struct sg_record_comm *of, const char *name, const int64_t *value)
{
    return SET(parent) || SET(profile_comm);
}

static bool set_profile_comm(struct sg_record_profile_comm *of, const char *name,
                             const int64_t *value)
{
    return SET(parent) || SET(is_inter) || SET(size) || SET(peers);
}

static bool set_function(struct sg_record_function *of, const char *name, const int64_t *value)
{
    return SET(left_out);
}

static bool set_header(struct sg_log_header *of, const char *name, const int64_t *value)
{
    return SET(state) || SET(thread_count) || SET(progress_thread) || SET(init_begin_ns) ||
           SET(init_end_ns) || SET(finalize_begin_ns) || SET(machine) || SET(socket) || SET(core);
}

/* Fields that go together have the name of their flag. */
static bool set_event(struct sg_record_event *of, const char *name, const int64_t *value)
{
    static const struct {
        const char *name;
        uint8_t flag;
    } flags[] = {{"failed", SG_EVENT_FAILED},     {"sends", SG_EVENT_SENDS},
                 {"receives", SG_EVENT_RECEIVES}, {"posts", SG_EVENT_POSTS},
                 {"root", SG_EVENT_ROOTED},       {"number", SG_EVENT_ORDERED},
                 {"target", SG_EVENT_TARGETS}};
    uint8_t flag = 0;

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        flag |= strcmp(flags[i].name, name) == 0 ? flags[i].flag : 0;
    of->flags |= flag;
    if (flag == SG_EVENT_SENDS)
        fabricate_sent(of, (int)value[0], (int)value[1], (uint64_t)value[2]);
    else if (flag == SG_EVENT_RECEIVES)
        fabricate_received(of, (int)value[0], (int)value[1], (uint64_t)value[2]);
    else if (flag == SG_EVENT_ROOTED || flag == SG_EVENT_TARGETS)
        of->to = (int)value[0];
    else if (flag == SG_EVENT_ORDERED)
        of->from_tag = (int)value[0];
    if (flag == SG_EVENT_TARGETS)
        of->sent_bytes = of->received_bytes = 8;
    return flag != 0 || SET(thread) || SET(to) || SET(from) /* a window */;
}

/* Sets the fields of a word whose names are not those of texts. */
static void set_fields(void *record, int kind, const struct word *word)
{
    static const char texts[] = " name members text module function file host ";
    char fields[256], *at = NULL;

    snprintf(fields, sizeof fields, "%s", word->fields == NULL ? "" : word->fields);
    for (char *name = strtok_r(fields, ",", &at); name != NULL; name = strtok_r(NULL, ",", &at)) {
        int64_t value[8] = {0};
        char *equals = strchr(name, '='), key[32];
        int count;

        if (equals != NULL) {
            *equals = '\0';
            read_numbers(equals + 1, '.', value, &count);
        }
        snprintf(key, sizeof key, " %s ", name);
        if (strstr(texts, key) != NULL)
            continue;
        bool found = kind == SG_RECORD_CALL           ? set_call(record, name, value)
                     : kind == SG_RECORD_NONBLOCKING  ? set_nonblocking(record, name, value)
                     : kind == SG_RECORD_LATE         ? set_late(record, name, value)
                     : kind == SG_RECORD_EVENT        ? set_event(record, name, value)
                     : kind == SG_RECORD_REQUEST      ? set_request(record, name, value)
                     : kind == SG_RECORD_COMM         ? set_comm(record, name, value)
                     : kind == SG_RECORD_PROFILE_COMM ? set_profile_comm(record, name, value)
                     : kind == SG_RECORD_FUNCTION     ? set_function(record, name, value)
                                                      : set_header(record, name, value);
        if (!found)
            printf("# no field '%s' of '%s'\n", name, word->name);
        ASSERT(found);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static bool add_collective(struct fabricated *log, const struct word *word)
{
    bool is_post = word->name[0] == 'i';
    int operation = 0;

    while (strcmp(sg_operation_names[operation], word->name + is_post) != 0) {
        if (++operation == SG_OPERATION_COUNT)
            return false;
    }
    for (int i = 0; i < word->repeats; i++) {
        uint32_t comm = (uint32_t)word->number[0], seq = (uint32_t)(word->number[1] + i);
        uint64_t later_ns = (uint64_t)i * word->step_ns;

        if (is_post)
            set_fields(fabricate_nonblocking(log, operation, comm, seq, word->time_ns[0],
                                             (uint32_t)word->time_ns[1], word->time_ns[2],
                                             word->time_ns[3]),
                       SG_RECORD_NONBLOCKING, word);
        else
            set_fields(fabricate_call(log, operation, comm, seq, word->time_ns[0] + later_ns,
                                      word->time_ns[1] + later_ns),
                       SG_RECORD_CALL, word);
    }
    return true;
}

static bool add_definition(struct fabricated *log, const struct word *word)
{
    static const uint32_t all[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};
    const int64_t *number = word->number;
    const char *name = field_text(word, "name");
    char function[80];
    void *record;

    if (strcmp(word->name, "comm") == 0) {
        record =
            fabricate_comm(log, (uint32_t)number[0], (uint32_t)number[1], (uint32_t)number[2],
                           (uint32_t)number[3], (uint32_t)number[4], name, field_members(word));
        set_fields(record, SG_RECORD_COMM, word);
    } else if (strcmp(word->name, "profile_comm") == 0) {
        record = fabricate_profile_comm(log, (uint32_t)number[0], (uint64_t)number[1],
                                        (uint32_t)number[2], (uint32_t)number[3],
                                        (uint32_t)number[4], name, field_members(word));
        set_fields(record, SG_RECORD_PROFILE_COMM, word);
    } else if (strcmp(word->name, "world") == 0) {
        fabricate_profile_comm(log, 1, 77, 0, (uint32_t)world_size, (uint32_t)log->header.rank,
                               "MPI_COMM_WORLD", log->header.rank == 0 ? all : NULL);
    } else if (strcmp(word->name, "window") == 0) {
        fabricate_window(log, (uint32_t)number[0], (uint32_t)number[1], (uint32_t)number[2], name);
    } else if (strcmp(word->name, "function") == 0) {
        snprintf(function, sizeof function, "MPI_%s", name);
        fabricate_function(log, (uint32_t)number[0], function);
        record = log->slots + (log->count - 2) * SG_SLOT_BYTES; /* before its name */
        set_fields(record, SG_RECORD_FUNCTION, word);
    } else if (strcmp(word->name, "site") == 0) {
        fabricate_site(log, (uint32_t)number[0], (uint32_t)number[1], field_text(word, "module"),
                       "", (uint64_t)number[2]);
        if (*field_text(word, "function") != '\0')
            fabricate_site_name(log, (uint32_t)number[1], field_text(word, "function"),
                                field_text(word, "file"), (uint32_t)number[3]);
    } else if (strcmp(word->name, "marker") == 0) {
        fabricate_marker(log, (enum sg_marker_kind)number[0], word->time_ns[0],
                         field_text(word, "text"));
    } else {
        return false;
    }
    return true;
}

static bool add_request(struct log *log, const struct word *word)
{
    static const char *const names[] = {"send",     "receive",   "sent",  "received",
                                        "complete", "cancelled", "freed", "prepared"};
    uint64_t *slot = &log->slots[(int)word->label];

    for (int i = 0; i < 8; i++) {
        if (strcmp(names[i], word->name) != 0)
            continue;
        if (*slot == 0)
            *slot = log->made.count;
        set_fields(fabricate_request(&log->made, i + 1, (uint32_t)word->number[0], word->time_ns[0],
                                     *slot),
                   SG_RECORD_REQUEST, word);
        return true;
    }
    return false;
}

/* The first event of a function defines it. */
static void add_event(struct log *log, const struct word *word)
{
    uint32_t function = 0;
    char name[40];

    while (log->functions[function][0] != '\0' && strcmp(log->functions[function], word->name) != 0)
        function++;
    if (log->functions[function][0] == '\0') {
        snprintf(name, sizeof name, "MPI_%s", word->name);
        snprintf(log->functions[function], sizeof log->functions[0], "%s", word->name);
        fabricate_function(&log->made, 1 + function, name);
    }
    set_fields(fabricate_event(&log->made, 1 + function, (uint32_t)word->number[0],
                               word->time_ns[0], word->time_ns[1]),
               SG_RECORD_EVENT, word);
    log->slots[(int)word->label] = fabricate_last(&log->made);
}

static void add_word(struct log *log, const struct word *word)
{
    if (isupper((unsigned char)word->name[0])) {
        add_event(log, word);
    } else if (strcmp(word->name, "header") == 0) {
        set_fields(&log->made.header, OF_HEADER, word);
        if (*field_text(word, "host") != '\0')
            strcpy(log->made.header.host, field_text(word, "host"));
    } else if (strcmp(word->name, "noinit") == 0) {
        log->made.header.init_begin_ns = log->made.header.init_end_ns = 0;
    } else if (strcmp(word->name, "late") == 0) {
        set_fields(fabricate_late(&log->made, word->time_ns[0], word->time_ns[1]), SG_RECORD_LATE,
                   word);
    } else if (!add_collective(&log->made, word) && !add_definition(&log->made, word) &&
               !add_request(log, word)) {
        printf("# no record '%s'\n", word->name);
        ASSERT(false);
    }
}

/* ---- exports.txt ----------------------------------------------------------------------------- */

/* A line of logs: "0 words", "0-2 words" for each of several ranks, or "of 3" for the size. */
static void read_line(char *line)
{
    char copy[1000], *at = NULL;

    if (sscanf(line, " of %d", &world_size) == 1)
        return;
    int first = (int)strtol(line, &line, 10);
    int last = *line == '-' ? (int)strtol(line + 1, &line, 10) : first;

    for (int rank = first; rank <= last; rank++) {
        if (!logs[rank].is_begun)
            fabricate_start(&logs[rank].made, rank, world_size);
        logs[rank].is_begun = true;
        snprintf(copy, sizeof copy, "%s", line);
        for (char *text = strtok_r(copy, " \n", &at); text != NULL;
             text = strtok_r(NULL, " \n", &at)) {
            struct word word;

            parse_word(text, &word);
            add_word(&logs[rank], &word);
        }
    }
}

static void begin_logs(int size)
{
    memset(logs, 0, sizeof logs);
    world_size = size;
}

static void finish_logs(const char *directory)
{
    for (int rank = 0; rank < RANKS; rank++) {
        if (logs[rank].is_begun)
            fabricate_finish(&logs[rank].made, directory);
    }
}

struct text_case {
    char sentence[128];
    char expected[6000]; /* "KEY: value" of a line each */
    char commands[1000];
    char directory[200];
};

/* Exports the logs; the result is the first line of the case's text. */
static void export_case(const struct text_case *of)
{
    char path[220];

    finish_logs(of->directory);
    ASSERT(setup_export(of->directory) == SG_OK);
    snprintf(path, sizeof path, "%s/exported", of->directory);
    FILE *file = fopen(path, "w");
    ASSERT(file != NULL);
    fprintf(file, "exported: %" PRIu64 " calls, %" PRIu64 " dropped%s\n", exported.calls,
            exported.dropped, exported.partial ? ", partial" : "");
    fclose(file);
}

/* Checks the archives of cases; failed checks are in their texts. */
static void check_cases(const char *names)
{
    char command[300];

    snprintf(command, sizeof command,
             "cd %s; /usr/bin/python3 \"$OLDPWD\"/tests/lib/check_archive.py --text "
             "%s/traces.otf2 >checks",
             unit_directory(), names);
    (void)!system(command);
}

/* Returns the text of a case, valid until the next one's. */
static const char *read_text(const struct text_case *of)
{
    static char text[16000000];
    size_t used = 0;

    for (int part = 0; part < 2; part++) {
        char path[220];

        snprintf(path, sizeof path, "%s/%s", of->directory, part == 0 ? "exported" : "text");
        FILE *file = fopen(path, "r");
        ASSERT(file != NULL);
        used += fread(text + used, 1, sizeof text - 1 - used, file);
        fclose(file);
    }
    text[used] = '\0';
    return text;
}

static int count_lines(const char *text, const char *begin)
{
    int count = 0;

    for (; text != NULL; text = strchr(text, '\n') == NULL ? NULL : strchr(text, '\n') + 1)
        count += strncmp(text, begin, strlen(begin)) == 0;
    return count;
}

/* Checks the lines expected, and that no check of the archive fails otherwise. */
static void compare_case(const struct text_case *of)
{
    const char *text = read_text(of);
    char *at = NULL, copy[sizeof of->expected], command[1400];
    bool is_expected = count_lines(text, "not ok") == count_lines(of->expected, "not ok");

    snprintf(copy, sizeof copy, "%s", of->expected);
    for (char *line = strtok_r(copy, "\n", &at); line != NULL; line = strtok_r(NULL, "\n", &at)) {
        size_t key = (size_t)(strchr(line, ':') - line) + 1;
        const char *found = text;

        while (found != NULL && strncmp(found, line, key) != 0)
            found = strchr(found, '\n') == NULL ? NULL : strchr(found, '\n') + 1;
        size_t length = found == NULL ? key : strcspn(found, "\n");
        if (strlen(line) == length && (found == NULL || strncmp(line, found, length) == 0))
            continue;
        printf("# expected %s\n", line);
        is_expected = false;
    }
    if (!is_expected)
        printf("# %s:\n%s", of->sentence, text);
    EXPECT(is_expected);
    snprintf(command, sizeof command, "cd %s || exit 1; set -e; %s", of->directory, of->commands);
    bool succeeds = system(command) == 0;
    if (!succeeds)
        printf("# %s: a command fails\n", of->sentence);
    EXPECT(succeeds);
}

static void begin_case(struct text_case *of, const char *sentence, int number)
{
    char name[20];

    *of = (struct text_case){0};
    snprintf(name, sizeof name, "case%d", number);
    snprintf(of->directory, sizeof of->directory, "%s", setup_directory(name));
    snprintf(of->sentence, sizeof of->sentence, "%.*s", (int)strcspn(sentence, "\n"), sentence);
    begin_logs(1);
}

/* Adds a line "= KEY: value" or, as more of the line before it, "=   value". */
static void expect_line(struct text_case *of, const char *line)
{
    bool is_more = strncmp(line, "=  ", 3) == 0;
    size_t used = strlen(of->expected);
    const char *from = line + 1 + strspn(line + 1, " ");

    ASSERT(used + strlen(from) + 2 < sizeof of->expected);
    sprintf(of->expected + used, "%s%.*s",
            is_more     ? " "
            : used == 0 ? ""
                        : "\n",
            (int)strcspn(from, "\n"), from);
}

TEST("the archives of known logs are those of exports.txt")
{
    FILE *file = fopen(FILE_NAME, "r");
    static struct text_case cases[64];
    struct text_case *of = NULL;
    int count = 0;
    char line[1000];

    ASSERT(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == ' ') {
            read_line(line);
        } else if (line[0] == '=') {
            expect_line(of, line);
        } else if (line[0] == '$') {
            ASSERT(strlen(of->commands) + strlen(line) < sizeof of->commands);
            strcat(of->commands, line + 1);
        } else if (line[0] != '\n' && line[0] != '#') {
            if (of != NULL)
                export_case(of);
            ASSERT(count < (int)(sizeof cases / sizeof *cases));
            of = &cases[count];
            begin_case(of, line, count++);
        }
    }
    fclose(file);
    export_case(of);
    EXPECT(count == 50);
    check_cases("case*");
    for (int i = 0; i < count; i++)
        compare_case(&cases[i]);
}

/* Adds a line of logs as in exports.txt. */
__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    char line[1000];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    read_line(line);
}

TEST("a hundred communicators with the same members are distinguished")
{
    struct text_case of;

    begin_case(&of, "hundred", 100);
    add("of 2");
    for (int comm = 2; comm < 102; comm++) {
        add("0 comm:%d.0.%d.2.0,name=dup_%d,members=0.1", comm, comm, comm);
        add("1 comm:%d.0.%d.2.1,name=dup_%d", comm, comm, comm);
        add("0-1 barrier:%d.0@%d-%d*50/10", comm, 500 * comm, 500 * comm + 5);
    }
    expect_line(&of, "= exported: 10000 calls, 0 dropped");
    expect_line(&of, "= entered Barrier: 5000 5000");
    for (int comm = 2; comm < 102; comm++) {
        char line[40];

        snprintf(line, sizeof line, "= comm dup_%d: 50", comm);
        expect_line(&of, line);
    }
    export_case(&of);
    check_cases("case100");
    compare_case(&of);
    EXPECT(text_is(setup_told, "r0 r1 w0 w1 "));
}

TEST("otf2-print and ViTE read all archives of this test")
{
    char command[300];

    snprintf(command, sizeof command,
             "tests/lib/check_tools.sh %s/*/traces.otf2 >%s/tools; status=$?; "
             "grep -v '^ok' %s/tools; exit $status",
             unit_directory(), unit_directory(), unit_directory());
    EXPECT(system(command) == 0);
}

TEST("an archive is never overwritten, remains of an unfinished export are")
{
    const char *directory = setup_directory("twice");
    char path[300];

    begin_logs(1);
    add("0 barrier:0.0@2000-2100");
    finish_logs(directory);
    /* Remains of an export that was cut off are no archive. */
    snprintf(path, sizeof path, "%s/traces", directory);
    EXPECT(mkdir(path, 0777) == 0);
    snprintf(path, sizeof path, "%s/traces/0.evt", directory);
    fabricate_file(path, "half", 4);
    EXPECT(setup_export(directory) == SG_OK, setup_export(directory) == SG_ERR_SYSTEM);
    setup_check_with(directory, "");
}

/* The greatest value of a wide field stands for more, and leaves the field's neighbours as they
 * are. */
TEST("a call's wide fields do not overlap the counts beside them")
{
    struct sg_record_call call = {0};

    call.bytes = SG_CALL_WIDE_MAX;
    call.skew_ns = SG_CALL_WIDE_MAX;
    EXPECT(call.moves == 0, call.repeats == 0);
    call.moves = call.repeats = UINT16_MAX;
    EXPECT(call.bytes == SG_CALL_WIDE_MAX, call.skew_ns == SG_CALL_WIDE_MAX);
}

/* The library's barriers have every other number. */
TEST("the library's collectives and others share one sequence of numbers")
{
    struct sg_refusal refusal;
    struct sg_summary summary;
    struct sg_logread *log;
    char path[300];

    begin_logs(1);
    add("0 world");
    for (int i = 0; i < 100; i += 2) {
        add("0 barrier:0.%d@%d-%d", i / 2, 2000 + 100 * i, 2010 + 100 * i);
        add("0 Bcast:1@%d-%d,number=%d,root=0", 2100 + 100 * i, 2150 + 100 * i, i + 1);
    }
    /* Two numbers are missing, and no barrier was between. */
    add("0 Bcast:1@13000-13050,number=102,root=0");
    finish_logs(unit_directory());
    snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, unit_directory(), 0);
    ASSERT(sg_logread_try(path, &log, &refusal) == SG_OK,
           sg_summary_make(log, false, &summary) == SG_OK);
    EXPECT(summary.calls.events == 51);
    ASSERT(summary.calls.comm_count == 1);
    EXPECT(summary.calls.comms[0].comm.recorded.count == 2,
           sg_intervals_size(&summary.calls.comms[0].comm.recorded) == 101);
    sg_summary_clear(&summary);
    sg_logread_close(log);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Two ranks with a bit of everything. */
static void make_busy(void)
{
    begin_logs(2);
    add("0-1 site:1.0x77.0x10,module=/bin/true world");
    add("0 comm:2.1.2.2.1,name=turned");
    add("1 comm:2.1.2.2.0,name=turned,members=1.0");
    for (int seq = 0; seq < 30; seq++) {
        int begin_ns = 2000 + 100 * seq;

        add("0-1 %s:%d.%d@%d-%d,root=0,thread=%d", sg_operation_names[seq % 3], seq % 2 ? 2 : 0,
            seq / 2, begin_ns, begin_ns + 50, seq % 4 == 1);
        if (seq % 5 == 0)
            add("0-1 late@%d-%d", begin_ns + 60, begin_ns + 70);
        if (seq % 3 == 0)
            add("0-1 i%s:0.%d@%d-5-20-%d", sg_operation_names[seq % 2 * 2], 100 + seq,
                begin_ns + 75, seq % 9 == 0 ? 0 : begin_ns + 300);
    }
    for (int rank = 0; rank < 2; rank++)
        add("%d profile_comm:3.99.0.2.0,name=between,members=%d.%d,is_inter=1,size=1,peers=1", rank,
            rank, 1 - rank);
    for (int round = 0; round < 6; round++) {
        int comm = round % 2 == 0 ? 1 : 3, at_ns = 6000 + 200 * round;

        for (int rank = 0; rank < 2; rank++) {
            int peer = comm == 1 ? 1 - rank : 0;

            add("%d Isend:%d@%d-%d#a,sends=%d.5.8,posts Recv:%d@%d-%d,receives=%d.5.8", rank, comm,
                at_ns, at_ns + 10, peer, comm, at_ns + 20, at_ns + 40, peer);
            add("%d Wait:%d@%d-%d sent:%d@%d#a", rank, comm, at_ns + 50, at_ns + 60, comm,
                at_ns + 60);
            add("%d Ibcast:%d@%d-%d#b,posts,number=%d,root=%d", rank, comm, at_ns + 70, at_ns + 80,
                round / 2, comm == 1 || rank == 1 ? 0 : SG_EVENT_ROOT_HERE);
            add("%d Wait:%d@%d-%d complete:%d@%d#b", rank, comm, at_ns + 90, at_ns + 100, comm,
                at_ns + 100);
        }
    }
    add("0-1 marker:%d@4000,text=half_way", SG_MARKER_NOTE);
    for (int rank = 0; rank < 2; rank++) {
        fabricate_stat(&logs[rank].made, 0, 1, 0, 12);
        fabricate_clock(&logs[rank].made, 1200, 0);
        fabricate_clock(&logs[rank].made, 9000, 10);
    }
}

static void export_bytes(const char *directory, unsigned char *const bytes[2],
                         const size_t sizes[2], bool check)
{
    char path[300];

    for (int rank = 0; rank < 2; rank++) {
        snprintf(path, sizeof path, "%s/" SG_LOG_NAME_FORMAT, directory, rank);
        fabricate_file(path, bytes[rank], sizes[rank]);
    }
    if (setup_export(directory) != SG_OK)
        return;
    if (check)
        setup_check_with(directory, "--damaged");
    snprintf(path, sizeof path, "%s/traces.otf2", directory);
    unlink(path);
}

/* The full check damages more logs; it verifies more of the archives. */
TEST("logs cut anywhere or damaged at random give valid archives")
{
    const int sparse = unit_in_full() ? 1 : 4, step = sparse * unit_step();
    const char *directory = setup_directory("damaged");
    int kept = dup(STDERR_FILENO);
    unsigned char *bytes[2], *copy;
    size_t sizes[2];

    make_busy();
    for (int rank = 0; rank < 2; rank++)
        bytes[rank] = fabricate_bytes(&logs[rank].made, &sizes[rank]);
    if (freopen("/dev/null", "w", stderr) == NULL)
        abort();
    for (size_t cut = SG_LOG_HEADER_BYTES; cut < sizes[1]; cut += 97 * (size_t)step) {
        size_t cut_sizes[2] = {sizes[0], cut};

        export_bytes(directory, bytes, cut_sizes, cut % (size_t)(7 * sparse) == 0);
    }
    srand48(7);
    copy = malloc(sizes[1]);
    ASSERT(copy != NULL);
    for (int round = 0; round < 400; round += step) {
        unsigned char *const damaged[2] = {bytes[0], copy};

        memcpy(copy, bytes[1], sizes[1]);
        for (int flips = 1 + (int)(lrand48() % 6); flips > 0; flips--) {
            size_t at = SG_LOG_HEADER_BYTES + (size_t)lrand48() % (sizes[1] - SG_LOG_HEADER_BYTES);

            copy[lrand48() % 4 == 0 ? lrand48() % 160 : (long)at] ^=
                (unsigned char)(1u << (lrand48() % 8));
        }
        export_bytes(directory, damaged, sizes, round % (8 * sparse) == 0);
    }
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    free(copy);
    for (int rank = 0; rank < 2; rank++) {
        fabricate_free(&logs[rank].made);
        free(bytes[rank]);
    }
}
