/* Tests wait states: the events of waits.txt, which has their form, and many or contradictory
 * events. */
#include "report/tracked.h"

#include <ctype.h>
#include <inttypes.h>

#define FILE_NAME "tests/report/waits.txt"
#define WINDOW 3

struct word {
    char name[24];
    uint32_t number[4];
    uint32_t count; /* of numbers */
    uint64_t request;
    uint32_t gap;
    int64_t time_ns;
    uint64_t bytes;
    bool is_complete;
};

static bool parse_word(char *text, struct word *word)
{
    size_t length = strcspn(text, ":#+@=!");

    *word = (struct word){0};
    if (length >= sizeof word->name)
        return false;
    memcpy(word->name, text, length);
    for (text += length; *text != '\0';) {
        char mark = *text;
        int64_t value = strtoll(text + 1, &text, 10);

        if ((mark == ':' || mark == '.') && word->count < 4)
            word->number[word->count++] = (uint32_t)value;
        else if (mark == '#')
            word->request = (uint64_t)value;
        else if (mark == '+')
            word->gap = (uint32_t)value;
        else if (mark == '@')
            word->time_ns = value;
        else if (mark == '=')
            word->bytes = (uint64_t)value;
        else if (mark == '!')
            word->is_complete = true;
        else
            return false;
    }
    return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

#define VERBS(OF)                                                                                  \
    OF(leave), OF(send), OF(isend), OF(sent), OF(receive), OF(post), OF(received), OF(cancelled),  \
        OF(barrier), OF(create), OF(fence), OF(free), OF(file), OF(comm), OF(init), OF(final),     \
        OF(group), OF(lock), OF(share), OF(unlock), OF(operation), OF(done), OF(here)
#define AS_CODE(name) DO_##name
#define AS_TEXT(name) #name

enum { VERBS(AS_CODE), VERB_COUNT };
static const char *const verbs[] = {VERBS(AS_TEXT)};

static enum sg_status collect(uint32_t location, enum sg_waitstate_pattern pattern,
                              const struct word *word)
{
    bool has_window = word->count == 2;
    uint32_t window = has_window ? 1 + word->number[0] : 0;
    const struct sg_waitstate_collective collective = {.pattern = pattern,
                                                       .comm = WORLD,
                                                       .window = window,
                                                       .seq = word->number[has_window],
                                                       .size = RANKS,
                                                       .member = location,
                                                       .root = SG_WAITSTATE_NO_ROOT};

    return sg_waitstate_collective(tracker, location, &collective);
}

static enum sg_status act(uint32_t at, int verb, const struct word *word)
{
    const struct sg_waitstate_message message = {.comm = WORLD,
                                                 .peer = word->number[0],
                                                 .tag = word->number[1],
                                                 .gap = word->gap,
                                                 .bytes = word->bytes,
                                                 .is_complete = word->is_complete};
    static const uint32_t all[] = {0, 1, 2, 3};
    const struct sg_waitstate_lock lock = {WINDOW,
                                           WORLD,
                                           word->number[0],
                                           verb == DO_lock,
                                           word->number[0],
                                           all,
                                           word->number[0] == SG_WAITSTATE_ALL ? 4 : 0};
    const struct sg_waitstate_group group = {WINDOW, WORLD, word->number, word->count};

    switch (verb) {
    case DO_leave:
        return sg_waitstate_leave(tracker, at, word->time_ns);
    case DO_send:
        return sg_waitstate_send(tracker, at, &message);
    case DO_isend:
        return sg_waitstate_isend(tracker, at, &message, word->request);
    case DO_sent:
        return sg_waitstate_sent(tracker, at, word->request);
    case DO_receive:
        return sg_waitstate_receive(tracker, at, &message, word->time_ns);
    case DO_post:
        return sg_waitstate_post(tracker, at, word->request);
    case DO_received:
        return sg_waitstate_received(tracker, at, &message, word->request, word->time_ns);
    case DO_cancelled:
        return sg_waitstate_cancelled(tracker, at, word->request);
    case DO_barrier:
        return collect(at, SG_PATTERN_BARRIER, word);
    case DO_create:
        return collect(at, SG_PATTERN_CREATE, word);
    case DO_fence:
        return collect(at, SG_PATTERN_FENCE, word);
    case DO_free:
        return collect(at, SG_PATTERN_FREE, word);
    case DO_file:
        return collect(at, SG_PATTERN_FILE, word);
    case DO_comm:
        return collect(at, SG_PATTERN_COMM, word);
    case DO_init:
        return collect(at, SG_PATTERN_INIT, word);
    case DO_final:
        return collect(at, SG_PATTERN_FINALIZE, word);
    case DO_group:
        return sg_waitstate_synchronise(tracker, at, &group);
    case DO_lock:
    case DO_share:
        return sg_waitstate_request_lock(tracker, at, &lock);
    case DO_unlock:
        return sg_waitstate_release_lock(tracker, at, &lock);
    case DO_operation:
        return sg_waitstate_operation(tracker, at, WINDOW, word->number[0], word->number[0],
                                      word->request);
    case DO_done:
        sg_waitstate_operated(tracker, at, word->request, word->time_ns);
        return SG_OK;
    case DO_here:
        sg_waitstate_operated_here(tracker, at, word->request, word->time_ns);
        return SG_OK;
    }
    printf("# no event '%s'\n", word->name);
    return SG_ERR_SYNTAX;
}

static void tell_word(uint32_t location, const struct word *word)
{
    char function[32];
    int verb = 0;

    if (isupper((unsigned char)word->name[0])) {
        snprintf(function, sizeof function, "MPI_%s", word->name);
        enter_polling(location, function, word->number[0], word->time_ns, word->gap);
        return;
    }
    while (verb < VERB_COUNT && strcmp(verbs[verb], word->name) != 0)
        verb++;
    need(act(location, verb, word));
}

/* Reports these events, as in waits.txt, so much later. */
static void tell(int64_t later_ns, const char *events)
{
    char text[256], *at_location, *at_word;

    snprintf(text, sizeof text, "%s", events);
    for (char *part = strtok_r(text, ";", &at_location); part != NULL;
         part = strtok_r(NULL, ";", &at_location)) {
        uint32_t location = (uint32_t)strtoul(part, &part, 10);

        for (char *of = strtok_r(part, " ", &at_word); of != NULL;
             of = strtok_r(NULL, " ", &at_word)) {
            struct word word;

            ASSERT(parse_word(of, &word));
            word.time_ns += later_ns;
            tell_word(location, &word);
        }
    }
}

/* ---- waits.txt ------------------------------------------------------------------------------- */

static void print_sum(FILE *stream, uint64_t waits, uint64_t ns)
{
    fprintf(stream, " %" PRIu64, ns);
    if (waits != 1)
        fprintf(stream, " in %" PRIu64, waits);
}

static void print_place(FILE *stream, const struct sg_waitstate_place *place)
{
    fprintf(stream, " %s:%u", place->function + strlen("MPI_"), place->site.line);
}

/* Prints all waits and figures; the row of a wait is the sum of its pairs. */
static void print_result(FILE *stream)
{
    const struct {
        const char *name;
        uint64_t value;
    } figures[] = {{"messages", counts.messages},
                   {"unmatched sends", counts.unmatched_sends},
                   {"unmatched receives", counts.unmatched_receives},
                   {"violations", counts.violations},
                   {"largest violation", counts.largest_violation_ns}};
    uint64_t sum_ns = 0;

    for (uint32_t i = 0; i < states->pair_count; i++) {
        const struct sg_waitstate_pair *pair = &states->pairs[i];

        fprintf(stream, "= %s", sg_waitstate_names[pair->kind]);
        print_place(stream, &pair->at);
        print_sum(stream, pair->of.waits, pair->of.wait_ns);
        fprintf(stream, " for %u", pair->rank);
        print_place(stream, &pair->other);
        fputc('\n', stream);
        sum_ns += pair->of.wait_ns;
    }
    for (uint32_t i = 0; i < states->row_count; i++) {
        const struct sg_waitstate_row *row = &states->rows[i];

        sum_ns -= row->of.wait_ns;
        if (row->wrong_order_waits == 0)
            continue;
        fputs("= wrong order", stream);
        print_place(stream, &row->at);
        print_sum(stream, row->wrong_order_waits, row->wrong_order_ns);
        fputc('\n', stream);
    }
    EXPECT(sum_ns == 0);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        if (figures[i].value > 0)
            fprintf(stream, "= %s %" PRIu64 "\n", figures[i].name, figures[i].value);
    }
}

static void compare_result(const char *sentence, const char *expected)
{
    finish();
    char *text = PRINTED(print_result(stream));
    bool is_expected = strcmp(text, expected) == 0;
    if (!is_expected)
        printf("not ok - %s\n# got\n%s# expected\n%s", sentence, text, expected);
    EXPECT(is_expected);
    free(text);
    end();
}

TEST("the waits of known events are those of waits.txt")
{
    FILE *file = fopen(FILE_NAME, "r");
    char line[256], sentence[256] = "", expected[2000];
    int tests = 0;

    ASSERT(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == ' ') {
            line[strcspn(line, "\n")] = '\0';
            tell(0, line);
        } else if (line[0] == '=') {
            strcat(expected, strcmp(line, "=\n") == 0 ? "" : line);
        } else if (line[0] != '\n' && line[0] != '#') {
            if (tests++ > 0)
                compare_result(sentence, expected);
            line[strcspn(line, "\n")] = '\0';
            strcpy(sentence, line);
            expected[0] = '\0';
            begin();
        }
    }
    fclose(file);
    compare_result(sentence, expected);
    EXPECT(tests == 55);
}

/* ---- more than waits ------------------------------------------------------------------------- */

TEST("with a filter only its waits are counted")
{
    struct sg_filter filter = {.site = "a.c:10", .ranks = "1", .time = "0ns:1us"};
    char message[200];

    ASSERT(sg_filter_parse(&filter, message, sizeof message));
    begin_filtered(&filter);
    for (int64_t at_ns = 0; at_ns <= 2000; at_ns += 2000) {
        tell(at_ns, "1 Recv:10@10; 0 Send:20@15 send:1.7 leave@16; 1 receive:0.7@18 leave@18");
        tell(at_ns, "2 Recv:10@20; 0 Send:20@25 send:2.7 leave@26; 2 receive:0.7@28 leave@28");
        tell(at_ns, "1 Recv:11@110; 0 Send:20@115 send:1.7 leave@116; 1 receive:0.7@118 leave@118");
    }
    finish();
    EXPECT(states->total.waits == 1);
    EXPECT_ROW("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER, 1, 5);
    end();
    sg_filter_clear(&filter);
}

/* Rank 3 for 60 in two waits, rank 2 for 50, rank 1 for 30. */
TEST("a pair names the rank that caused the longest wait")
{
    begin();
    tell(0, "0 Recv:10@100; 1 Send:20@130 send:0.7 leave@131; 0 receive:1.7@160 leave@160");
    tell(0, "0 Recv:10@200; 2 Send:20@250 send:0.7 leave@251; 0 receive:2.7@260 leave@260");
    tell(0, "0 Recv:10@300; 3 Send:20@330 send:0.7 leave@331; 0 receive:3.7@360 leave@360");
    tell(0, "0 Recv:10@400; 3 Send:20@430 send:0.7 leave@431; 0 receive:3.7@460 leave@460");
    finish();
    EXPECT_PAIR("MPI_Recv", 10, "MPI_Send", 20, 4, 140, 3);
    EXPECT_ROW("MPI_Recv", 10, SG_WAITSTATE_LATE_SENDER, 4, 140);
    EXPECT(states->pairs[0].ranks == 3, states->pairs[0].rank_ns == 60,
           states->pairs[0].rank_waits == 2, states->pairs[0].of.max_ns == 50,
           states->rows[0].of.max_ns == 50, states->ranks[0].waited.wait_ns == 140,
           states->ranks[0].caused.waits == 0, states->ranks[3].caused.wait_ns == 60,
           states->total.waits == 4);
    end();
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A receive that stays open does not keep others for long, and they are all matched. */
/* Adds a wait of rank 0 at the call site with this id in line 10, or in another line. */
static void add_wait(const char *name, uint32_t id, uint32_t line, enum sg_waitstate_kind kind,
                     uint32_t late, uint64_t wait_ns)
{
    const struct sg_site_text text = {
        .id = id, .function = "f", .file = "a.c", .line = line, .module = "a"};
    struct sg_waitstate wait = {.kind = kind, .other = {.rank = late}, .wait_ns = wait_ns};

    need(sg_places_function(places, name, &wait.at.function));
    need(sg_aggregate_site(aggregate, &text, &wait.at.site));
    wait.other.function = wait.at.function;
    wait.other.site = wait.at.site;
    need(sg_waitstate_sums_add(sums, &wait, NULL));
}

TEST("a site is a function in a line, over all kinds of waits, with the ranks awaited longest")
{
    begin();
    add_wait("MPI_Recv", 1, 10, SG_WAITSTATE_LATE_SENDER, 3, 100);
    add_wait("MPI_Recv", 2, 10, SG_WAITSTATE_LATE_SENDER, 1, 250);
    add_wait("MPI_Recv", 1, 10, SG_WAITSTATE_LATE_RECEIVER, 3, 200);
    add_wait("MPI_Recv", 2, 10, SG_WAITSTATE_LATE_SENDER, 0, 10);
    add_wait("MPI_Recv", 2, 10, SG_WAITSTATE_LATE_SENDER, 2, 20);
    add_wait("MPI_Recv", 3, 11, SG_WAITSTATE_LATE_SENDER, 2, 400);
    add_wait("MPI_Send", 4, 10, SG_WAITSTATE_LATE_RECEIVER, 2, 30);
    finish();
    ASSERT(states->site_count == 3);
    const struct sg_waitstate_site *site = &states->sites[0];
    EXPECT(text_is(site->at.function, "MPI_Recv"), site->at.site.line == 10, site->at.site.id == 1,
           site->places == 2);
    EXPECT(site->of.waits == 5, site->of.wait_ns == 580, site->of.max_ns == 250);
    EXPECT(site->ranks == 4, site->late_count == 3);
    EXPECT(site->late[0].rank == 3, site->late[0].wait_ns == 300, site->late[1].rank == 1,
           site->late[1].wait_ns == 250, site->late[2].rank == 2, site->late[2].wait_ns == 20);
    EXPECT(site->other.site.id == 2, site->other_of.wait_ns == 280);
    EXPECT(states->sites[1].at.site.line == 11, states->sites[1].of.wait_ns == 400,
           states->sites[1].places == 1);
    EXPECT(text_is(states->sites[2].at.function, "MPI_Send"));
    end();
}

TEST("a receive that never completes holds up a bounded number of messages")
{
    const int rounds = 20 * SG_WAITSTATE_HELD;

    begin();
    tell(0, "1 Irecv:10@1 post#1 leave@2");
    for (int i = 0; i < rounds; i++)
        tell(100 * i, "1 Recv:11@10; 0 Send:20@40 send:1.7 leave@41; 1 receive:0.7@50 leave@50");
    finish();
    EXPECT_ROW("MPI_Recv", 11, SG_WAITSTATE_LATE_SENDER, (uint64_t)rounds, 30u * rounds);
    EXPECT(counts.live_max < 5 * SG_WAITSTATE_HELD);
    end();
}

/* Memory is that of outstanding messages, also if each has a tag of its own. */
TEST("memory does not grow with the number of messages")
{
    begin();
    for (int i = 0; i < 50000; i++) {
        char events[100];

        snprintf(events, sizeof events,
                 "1 Recv:11@10; 0 Send:20@40 send:1.%d leave@41; 1 receive:0.%d@50 leave@50", i, i);
        tell(100 * i, events);
    }
    finish();
    EXPECT(counts.live_max <= 8);
    end();
}

/* An origin whose targets record nothing is not remembered for ever, nor is an end that is lost. */
TEST("unanswered epochs are not kept forever")
{
    begin();
    for (int i = 0; i < 10000; i++) {
        tell(100 * i, "0 Win_start:10@0 group:1 leave@1; 0 Win_complete:11@10 group:1 leave@11");
        tell(100 * i, "2 Win_post:20@0 group:3 leave@1; 3 Win_start:10@10 group:2 leave@11");
    }
    finish();
    EXPECT(counts.live_max < 5 * SG_WAITSTATE_HELD, states->row_count == 0);
    end();
}

/* Rounds of three ranks, a flush for every operation but the last; every sixth release is lost. */
TEST("memory does not grow with the number of locks")
{
    begin();
    for (int i = 0; i < 30000; i++) {
        char events[200];

        snprintf(events, sizeof events,
                 "%d Win_lock:10@0 lock:3 leave@1 Put:1@2 operation:3#%d leave@3 "
                 "Win_flush:11@4 done#%d@5 leave@5 Put:1@6 operation:3#%d leave@7",
                 i % 3, 2 * i + 1, 2 * i + 1, 2 * i + 2);
        tell(100 * i, events);
        snprintf(events, sizeof events, "%d Win_unlock:12@10 unlock:3 leave@11", i % 3);
        if (i % 6 != 2)
            tell(100 * i, events);
    }
    finish();
    EXPECT(counts.live_max < 40, states->row_count == 0);
    end();
}

/* ---- contradictory events -------------------------------------------------------------------- */

/* Events in no order that a program could have: nothing is lost, and no rank waits longer than its
 * call. */
TEST("contradictory events are handled safely")
{
    static const char *const words[] = {
        "Win_start:1@0", "leave@0",      "Win_complete:2@0", "group:0.%u.%u", "Win_post:3@0",
        "leave@0",       "Win_wait:4@0", "lock:%u",          "Win_fence:5@0", "share:%u",
        "Win_lock:1@0",  "unlock:%u",    "Win_unlock:2@0",   "unlock:-1",     "operation:%u#%u",
        "Win_flush:3@0", "done#%u@0",    "lock:-1",          "group:0"};
    uint64_t waits = 0;

    for (unsigned seed = 1; seed <= 50; seed++) {
        unsigned state = seed;

        begin();
        for (int64_t at_ns = 0; at_ns < 2000; at_ns++) {
            char word[64], events[80];
            size_t which = (size_t)rand_r(&state) % (sizeof words / sizeof *words);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(word, sizeof word, words[which], rand_r(&state) % 4, rand_r(&state) % 4);
#pragma GCC diagnostic pop
            snprintf(events, sizeof events, "%d %s", rand_r(&state) % (2 * RANKS), word);
            tell(at_ns, events);
        }
        finish();
        EXPECT(states->total.max_ns < 2000);
        waits += states->total.waits;
        end();
    }
    EXPECT(waits > 0);
}
