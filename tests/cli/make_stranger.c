/* make_stranger DIR RANKS MODULE WORDS [stats]: writes a log in which every word is chosen. DIR
 * gets rank 0's log of a run of RANKS ranks, with a call site in MODULE; all other names in it
 * are WORDS. */
#include "trace/fabricate.h"

#define SITE 0x0a0b0c0d

static const uint32_t self[] = {0};

static void put_words(struct fabricated *log, const char *words)
{
    snprintf(log->header.host, sizeof log->header.host, "%s", words);
    snprintf(log->header.program, sizeof log->header.program, "%s", words);
    fabricate_site_name(log, SITE, words, words, 7);
    fabricate_function(log, 1, words);
    fabricate_profile_comm(log, 1, 3, 1, 1, 0, words, self);
    fabricate_event(log, 1, 1, 5000, 5500);
    fabricate_window(log, 1, 1, 1, words);
    fabricate_marker(log, SG_MARKER_NOTE, 5600, words);
    fabricate_arm(log, 1, 1, 32, words, words);
}

int main(int argc, char **argv)
{
    struct fabricated log;

    if (argc < 5)
        return 2;
    fabricate_start(&log, 0, atoi(argv[2]));
    log.header.trace_mode = argc > 5 ? SG_TRACE_STATS : SG_TRACE_OTF2;
    log.header.counts_calls = 1;
    fabricate_site(&log, 1, SITE, argv[3], "", 0x1234);
    fabricate_comm(&log, 2, 0, 1, 1, 0, argv[4], self);
    if (argv[4][0] != '\0')
        put_words(&log, argv[4]);
    if (argc > 5) {
        fabricate_stat(&log, 0, 1, 2, 3);
    } else {
        fabricate_call(&log, 0, 2, 0, 2000, 2500)->site = 1;
        fabricate_call(&log, 2, 2, 1, 3000, 4500)->site = 1;
    }
    fabricate_finish(&log, argv[1]);
    return 0;
}
