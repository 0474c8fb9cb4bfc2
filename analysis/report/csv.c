/* The rows as CSV (RFC 4180): the fields of the JSON's sites, a header line, CRLF line ends. What
 * is not known is empty.
 */
#include "report/format.h"
#include "report/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_text(const char *text, FILE *out)
{
    char *clean = text != NULL ? sg_format_clean(text, false) : NULL;

    if (clean != NULL && strpbrk(clean, ",\"\r\n") != NULL) {
        fputc('"', out);
        for (const char *at = clean; *at != '\0'; at++) {
            if (*at == '"')
                fputc('"', out);
            fputc(*at, out);
        }
        fputc('"', out);
    } else if (clean != NULL) {
        fputs(clean, out);
    }
    free(clean);
}

static void put_count(bool known, uint64_t count, FILE *out)
{
    if (known)
        fprintf(out, "%" PRIu64, count);
}

#define FIELD(name)                                                                                \
    static void put_##name(const struct sg_report *report, const struct sg_report_site *site,      \
                           FILE *out)
#define COUNT_FIELD(name, known, count)                                                            \
    FIELD(name)                                                                                    \
    {                                                                                              \
        put_count(known, count, out);                                                              \
    }
#define TEXT_FIELD(name, text)                                                                     \
    FIELD(name)                                                                                    \
    {                                                                                              \
        put_text(text, out);                                                                       \
    }

FIELD(id)
{
    if (site->has_id)
        fprintf(out, "%08" PRIx32, site->id);
}

FIELD(last_rank_share)
{
    if (site->last_rank >= 0)
        fprintf(out, "%.6g", (double)site->last_count / (double)site->instances);
}

FIELD(run_share)
{
    if (report->ranks_run_ns > 0)
        fprintf(out, "%.6g", (double)site->blocked_ns / (double)report->ranks_run_ns);
}

FIELD(worst_time)
{
    if (sg_site_has_skew(site))
        fprintf(out, "%" PRId64, site->worst_time_ns);
}

TEXT_FIELD(op, sg_site_operation(site))
TEXT_FIELD(function, site->function)
TEXT_FIELD(file, site->file)
TEXT_FIELD(module, site->module)
TEXT_FIELD(comm, site->comm)
TEXT_FIELD(algorithm, site->algorithm)
COUNT_FIELD(line, site->line > 0, site->line)
COUNT_FIELD(offset, site->module != NULL, site->offset)
COUNT_FIELD(comm_size, true, site->comm_size)
COUNT_FIELD(calls, true, site->calls)
COUNT_FIELD(bytes, true, site->bytes)
COUNT_FIELD(p50, sg_site_has_skew(site), site->skew_p50_ns)
COUNT_FIELD(p95, sg_site_has_skew(site), site->skew_p95_ns)
COUNT_FIELD(max, sg_site_has_skew(site), site->skew_max_ns)
COUNT_FIELD(wait, sg_site_has_wait(site), site->wait_ns)
COUNT_FIELD(blocked, true, site->blocked_ns)
COUNT_FIELD(last_rank, site->last_rank >= 0, (uint64_t)site->last_rank)
COUNT_FIELD(early, true, site->counts.of[SG_COUNT_EARLY])
COUNT_FIELD(late, true, site->counts.of[SG_COUNT_LATE])
COUNT_FIELD(signals, true, site->counts.of[SG_COUNT_SIGNALS])
COUNT_FIELD(ignored, true, site->counts.of[SG_COUNT_IGNORED])
COUNT_FIELD(stalls, true, site->counts.of[SG_COUNT_STALLS])
COUNT_FIELD(moves, true, site->counts.of[SG_COUNT_MOVES])
COUNT_FIELD(repeats, true, site->counts.of[SG_COUNT_REPEATS])
COUNT_FIELD(outstanding, true, site->counts.of[SG_COUNT_OUTSTANDING])
COUNT_FIELD(event_calls, true, site->event_calls)
COUNT_FIELD(instances, true, site->instances)
COUNT_FIELD(avoided, sg_site_has_wait(site), site->wait_avoided_ns)
COUNT_FIELD(completion, sg_site_has_wait(site), site->completion_ns)
COUNT_FIELD(handler, true, site->handler_ns)
COUNT_FIELD(exposed, sg_site_has_exposed(site), site->exposed_ns)
COUNT_FIELD(hidden, site->nonblocking, site->hidden_ns)
COUNT_FIELD(worst_seq, sg_site_has_skew(site), site->worst_seq)

static const struct field {
    const char *name;
    void (*put)(const struct sg_report *report, const struct sg_report_site *site, FILE *out);
} fields[] = {
    {"id", put_id},
    {"op", put_op},
    {"function", put_function},
    {"file", put_file},
    {"line", put_line},
    {"module", put_module},
    {"offset", put_offset},
    {"comm", put_comm},
    {"comm_size", put_comm_size},
    {"algorithm", put_algorithm},
    {"calls", put_calls},
    {"bytes", put_bytes},
    {"skew_p50_ns", put_p50},
    {"skew_p95_ns", put_p95},
    {"skew_max_ns", put_max},
    {"wait_ns", put_wait},
    {"blocked_ns", put_blocked},
    {"last_rank", put_last_rank},
    {"last_rank_share", put_last_rank_share},
    {"early", put_early},
    {"late", put_late},
    {"signals", put_signals},
    {"event_calls", put_event_calls},
    {"instances", put_instances},
    {"wait_avoided_ns", put_avoided},
    {"completion_ns", put_completion},
    {"run_share", put_run_share},
    {"worst_seq", put_worst_seq},
    {"worst_time_ns", put_worst_time},
    {"signals_ignored", put_ignored},
    {"stalls", put_stalls},
    {"token_moves", put_moves},
    {"releases_repeated", put_repeats},
    {"outstanding_max", put_outstanding},
    {"handler_ns", put_handler},
    {"exposed_ns", put_exposed},
    {"hidden_ns", put_hidden},
};

enum sg_status sg_report_print_csv(const struct sg_report *report, uint32_t site_count, FILE *out)
{
    const size_t count = sizeof fields / sizeof fields[0];

    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", fields[i].name, i + 1 < count ? "," : "\r\n");
    for (uint32_t row = 0; row < site_count; row++) {
        for (size_t i = 0; i < count; i++) {
            fields[i].put(report, &report->sites[row], out);
            fputs(i + 1 < count ? "," : "\r\n", out);
        }
    }
    return SG_OK;
}
