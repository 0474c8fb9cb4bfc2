#include "watch/watch.h"

#include "core/clock.h"
#include "output/style.h"
#include "watch/job.h"
#include "watch/print.h"
#include "watch/rows.h"
#include "watch/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define TOP_IN_PIPE 20
/* Looking takes at most one part in so many of a processor: where it takes long, it comes less
 * often. */
#define REST 10
#define NICE 10

struct showing {
    const struct sg_live_options *options;
    struct sg_live_job job;
    struct sg_live_rows *rows;
    struct sg_live_view view;
    bool has_view, has_screen;
};

/* The job goes first; and one with many ranks has many files. */
static void be_modest(void)
{
    struct rlimit files;

    setpriority(PRIO_PROCESS, 0, NICE);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* ---- a time ---------------------------------------------------------------------------------- */

static enum sg_status look(struct showing *showing)
{
    enum sg_status status = sg_live_job_look(&showing->job);

    if (showing->has_view)
        sg_live_view_clear(&showing->view);
    showing->has_view = false;
    if (status == SG_OK)
        status = sg_live_rows_make(showing->rows, &showing->job, &showing->view);
    showing->has_view = status == SG_OK;
    return status;
}

static enum sg_status draw(struct showing *showing)
{
    const struct sg_live_print print = {.top = showing->options->top, .width = sg_screen_columns()};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    enum sg_status status = out != NULL ? SG_OK : SG_ERR_MEMORY;

    if (status == SG_OK)
        status = sg_live_print_text(&showing->job, &showing->view, &print, out);
    if (out != NULL && fclose(out) == 0 && status == SG_OK)
        sg_screen_draw(text);
    free(text);
    return status;
}

static enum sg_status print(struct showing *showing)
{
    struct sg_live_print rows = {.top = showing->options->top};
    enum sg_status status;

    if (showing->options->json) {
        status = sg_live_print_json(&showing->job, &showing->view, &rows, stdout);
    } else {
        if (rows.top == 0)
            rows.top = TOP_IN_PIPE;
        if (sg_screen_is_there())
            rows.width = sg_screen_columns();
        status = sg_live_print_text(&showing->job, &showing->view, &rows, stdout);
        putchar('\n');
    }
    fflush(stdout);
    return status;
}

/* ---- until it ends --------------------------------------------------------------------------- */

/* False: it is left. */
static bool wait_for(struct showing *showing, uint64_t until_ns, enum sg_status *status)
{
    for (;;) {
        switch (sg_screen_wait(until_ns)) {
        case SG_SCREEN_TIME:
            return true;
        case SG_SCREEN_LEAVE:
            return false;
        case SG_SCREEN_RESIZE:
            *status = draw(showing);
            if (*status != SG_OK)
                return false;
        }
    }
}

static uint64_t next_ns(uint64_t due_ns, uint64_t begin_ns, uint64_t interval_ns)
{
    uint64_t now_ns = sg_clock_ns();
    uint64_t rested_ns = now_ns + REST * (now_ns - begin_ns);

    due_ns += interval_ns;
    return due_ns > rested_ns ? due_ns : rested_ns;
}

static enum sg_status show(struct showing *showing)
{
    const struct sg_live_options *options = showing->options;
    uint64_t due_ns = sg_clock_ns();
    enum sg_status status = SG_OK;

    for (uint64_t time = 1; status == SG_OK; time++) {
        uint64_t begin_ns = sg_clock_ns();
        bool is_last;

        status = look(showing);
        if (status != SG_OK)
            break;
        is_last = showing->job.living == 0 || time == options->count;
        if (showing->has_screen)
            status = draw(showing);
        else
            status = print(showing);
        if (is_last || status != SG_OK || ferror(stdout))
            break;
        due_ns = next_ns(due_ns, begin_ns, options->interval_ns);
        if (!wait_for(showing, due_ns, &status))
            break;
    }
    return status;
}

enum sg_status sg_live_show(const struct sg_live_options *options)
{
    struct showing showing = {.options = options};
    enum sg_status status;

    be_modest();
    status = sg_live_job_open(options->directory, &showing.job);
    if (status != SG_OK)
        return status;
    status = sg_live_rows_create(showing.job.ranks, &showing.rows);
    if (status != SG_OK) {
        sg_log("watch: %s", sg_status_text(status));
        sg_live_job_close(&showing.job);
        return status;
    }
    showing.has_screen = !options->json && options->count == 0 && sg_screen_is_there();
    if (showing.has_screen)
        sg_screen_begin(sg_style_is_seen(STDOUT_FILENO));
    status = show(&showing);
    if (showing.has_screen) {
        sg_screen_end();
        if (showing.has_view && status == SG_OK)
            status = print(&showing); /* the last figures stay */
    }
    if (showing.has_view)
        sg_live_view_clear(&showing.view);
    sg_live_rows_destroy(showing.rows);
    sg_live_job_close(&showing.job);
    return status;
}
