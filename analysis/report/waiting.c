#include "report/waiting.h"

#include "output/format.h"

#include <inttypes.h>

void sg_report_put_oversubscribed(const struct sg_report *report,
                                  void (*put)(const char *text, FILE *out), FILE *out)
{
    const struct sg_run_waiting *waiting = &report->waiting;
    bool by_quota = waiting->quota > 0 && waiting->quota < waiting->processors;
    uint64_t processors = by_quota ? waiting->quota : waiting->processors;

    fprintf(out, "%" PRIu64 " ranks on %s%" PRIu64 " processor%s of ", waiting->ranks,
            by_quota ? "a quota of " : "", processors, processors == 1 ? "" : "s");
    put(waiting->host, out);
    if (waiting->short_ranks > waiting->ranks)
        fprintf(out, ", %" PRIu64 " ranks in all", waiting->short_ranks);
    if (waiting->apart_ranks > 0)
        fputs("; ranks in different autogroups", out);
}

/* Of the run: of all ranks' run time. */
void sg_report_put_waited(const struct sg_report *report, FILE *out)
{
    const struct sg_run_waiting *waiting = &report->waiting;

    if (waiting->told == 0)
        return;
    if (waiting->yields == 0 && waiting->sleeps == 0) {
        fputs("spun", out);
        return;
    }
    fprintf(out, "yielded %s", SG_NS(waiting->yield_ns / waiting->told));
    if (waiting->sleeps > 0)
        fprintf(out, " and slept %s", SG_NS(waiting->sleep_ns / waiting->told));
    fprintf(out, " a rank, %s", SG_SHARE(waiting->yield_ns, report->ranks_run_ns));
    if (waiting->sleeps > 0)
        fprintf(out, " and %s", SG_SHARE(waiting->sleep_ns, report->ranks_run_ns));
    fputs(" of the run", out);
    if (waiting->hook[0] == '\0')
        fputs("; MPICH itself spun", out);
}
