#include "watch/watch.h"

#include "core/clock.h"
#include "core/config.h"
#include "core/file.h"
#include "output/output_file.h"
#include "output/table.h"
#include "trace/export/logread.h"
#include "trace/log.h"
#include "watch/job.h"
#include "watch/watch_print.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

/* The terminal: draws figures in place and reads the keys that quit.
 *
 * Uses the alternate screen, so that the shell's screen returns at the end. One at a time in a
 * process. */

enum sg_screen_event {
    SG_SCREEN_TIME,   /* the time is over */
    SG_SCREEN_RESIZE, /* the terminal changed: draw again */
    SG_SCREEN_LEAVE,  /* q, Ctrl-C, or a signal that ends programs */
};

#define OTHER_SCREEN "\033[?1049h\033[?25l"
#define OWN_SCREEN "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int changing_signals[] = {SIGWINCH, SIGCONT};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct {
    bool is_on, has_color, has_keys;
    struct termios before;
    sigset_t waiting; /* signal mask during waits: signals are delivered only then */
} screen;
static volatile sig_atomic_t is_ended, is_changed;

static void end(int signal)
{
    is_ended = 1;
}

static void change(int signal)
{
    is_changed = 1;
}

/* ---- taking the terminal over ---------------------------------------------------------------- */

/* True if standard output is a terminal that can be drawn on. */
static bool sg_screen_is_there(void)
{
    const char *kind = sg_config_environment("TERM");

    return isatty(STDOUT_FILENO) && kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
}

static struct winsize size_of(void)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    struct winsize known;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &known) == 0 && known.ws_row > 0 && known.ws_col > 0)
        size = known;
    return size;
}

static size_t sg_screen_columns(void)
{
    return size_of().ws_col;
}

/* Writes all bytes; gives up on an error, which cannot be handled. */
static void put(const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t done = write(STDOUT_FILENO, text, bytes);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        text += done;
        bytes -= (size_t)done;
    }
}

static void take_signals(void)
{
    sigset_t blocked;

    sigemptyset(&blocked);
    for (size_t i = 0; i < COUNT(ending_signals); i++) {
        sigaction(ending_signals[i], &(struct sigaction){.sa_handler = end}, NULL);
        sigaddset(&blocked, ending_signals[i]);
    }
    for (size_t i = 0; i < COUNT(changing_signals); i++) {
        sigaction(changing_signals[i], &(struct sigaction){.sa_handler = change}, NULL);
        sigaddset(&blocked, changing_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &blocked, &screen.waiting);
}

/* Keys arrive one by one and without echo; Ctrl-C and Ctrl-Z stay signals. */
static void take_keys(void)
{
    struct termios raw = screen.before;

    if (!screen.has_keys)
        return;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

/* Takes over the terminal, and the signals that end the program or report changes of the
 * terminal. */
static void sg_screen_begin(bool color)
{
    take_signals();
    screen.has_color = color;
    screen.has_keys = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
                      tcgetattr(STDIN_FILENO, &screen.before) == 0;
    take_keys();
    put(OTHER_SCREEN, strlen(OTHER_SCREEN));
    screen.is_on = true;
}

/* Restores the terminal. */
static void sg_screen_end(void)
{
    if (!screen.is_on)
        return;
    screen.is_on = false;
    put(OWN_SCREEN, strlen(OWN_SCREEN));
    if (screen.has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Bytes of the line's first `columns` characters, each of which is one column wide. */
static size_t cut(const char *line, size_t bytes, size_t columns)
{
    size_t at = 0;

    for (; at < bytes && columns > 0; columns--) {
        at++;
        while (at < bytes && ((unsigned char)line[at] & 0xc0) == 0x80)
            at++;
    }
    return at;
}

static void draw_line(const char *line, size_t bytes, bool is_heading, size_t columns, FILE *out)
{
    bool is_bold = is_heading && screen.has_color;

    if (is_bold)
        fputs(BOLD, out);
    fwrite(line, 1, cut(line, bytes, columns), out);
    if (is_bold)
        fputs(PLAIN, out);
    fputs(CLEAR_LINE, out);
}

/* Draws text over the present contents: as many lines and columns as the terminal has. The first
 * line, and the line after the first empty one, are headings. */
static void sg_screen_draw(const char *text)
{
    struct winsize size = size_of();
    char *drawn = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&drawn, &bytes);
    bool is_heading = true, has_table = false;

    if (out == NULL)
        return;
    fputs(HOME, out);
    for (unsigned row = 0; row < size.ws_row && *text != '\0'; row++) {
        size_t length = strcspn(text, "\n");

        if (row > 0)
            fputs("\r\n", out);
        draw_line(text, length, is_heading, size.ws_col, out);
        is_heading = length == 0 && !has_table;
        has_table = has_table || length == 0;
        text += length + (text[length] == '\n');
    }
    fputs(CLEAR_BELOW, out);
    if (fclose(out) == 0)
        put(drawn, bytes);
    free(drawn);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* True if one of the keys read is the quit key. */
static bool is_left(short events)
{
    char keys[64];
    ssize_t got = (events & POLLIN) != 0 ? read(STDIN_FILENO, keys, sizeof keys) : 0;

    for (ssize_t i = 0; i < got; i++) {
        if (keys[i] == 'q' || keys[i] == 'Q')
            return true;
    }
    if (got <= 0 && (events & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        screen.has_keys = false; /* the terminal is gone, or cannot be read */
    return false;
}

/* Waits until a time of sg_clock_ns() or an event. Without a screen: until the time. */
static enum sg_screen_event sg_screen_wait(uint64_t until_ns)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};

    while (!is_ended && !is_changed) {
        uint64_t now_ns = sg_clock_ns();
        uint64_t rest_ns = until_ns > now_ns ? until_ns - now_ns : 0;
        struct timespec rest = {.tv_sec = (time_t)(rest_ns / 1000000000),
                                .tv_nsec = (long)(rest_ns % 1000000000)};
        bool has_keys = screen.is_on && screen.has_keys;
        int ready;

        if (rest_ns == 0)
            return SG_SCREEN_TIME;
        ready = ppoll(&keys, has_keys, &rest, screen.is_on ? &screen.waiting : NULL);
        if (ready > 0 && is_left(keys.revents))
            return SG_SCREEN_LEAVE;
    }
    if (is_ended)
        return SG_SCREEN_LEAVE;
    is_changed = 0;
    take_keys();
    put(CLEAR_BELOW, strlen(CLEAR_BELOW));
    return SG_SCREEN_RESIZE;
}

/* ---- showing a job --------------------------------------------------------------------------- */

#define TOP_ELSEWHERE 20 /* call sites in a pipe or a file */
/* A look takes at most about 1 / REST of a processor: if it takes long, looks become less
 * frequent. */
#define REST 10
#define NICE 10

struct showing {
    const struct sg_live_options *options;
    struct sg_live_job job;
    struct sg_live_rows *rows;
    struct sg_live_view view;
    bool has_view, has_screen;
};

/* The job has priority; a job with many ranks needs many open files. */
static void be_modest(void)
{
    struct rlimit files;

    setpriority(PRIO_PROCESS, 0, NICE);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

/* ---- one look -------------------------------------------------------------------------------- */

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
            rows.top = TOP_ELSEWHERE;
        if (sg_screen_is_there())
            rows.width = sg_screen_columns();
        status = sg_live_print_text(&showing->job, &showing->view, &rows, stdout);
        putchar('\n');
    }
    fflush(stdout);
    return status;
}

/* Replaces the file by one with the present figures. */
static enum sg_status write_openmetrics(struct showing *showing)
{
    const struct sg_live_options *options = showing->options;
    const struct sg_live_print rows = {.top = options->top != 0 ? options->top : TOP_ELSEWHERE};
    struct sg_output_file file;
    enum sg_status status = sg_output_file_open(options->openmetrics, &file);

    if (status != SG_OK)
        return status;
    status = sg_live_print_openmetrics(&showing->job, &showing->view, &rows, file.stream);
    return sg_output_file_close(&file, status);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static enum sg_status sample(struct showing *showing)
{
    enum sg_status status = sg_live_samples_take(showing->job.samples, &showing->job);

    if (status != SG_OK)
        sg_log("watch: %s", sg_status_text(status));
    return status;
}

/* Takes samples meanwhile. False: the user quits, or *status is an error. */
static bool wait_for(struct showing *showing, uint64_t until_ns, enum sg_status *status)
{
    for (;;) {
        uint64_t sample_ns = sg_live_samples_due_ns(showing->job.samples);

        switch (sg_screen_wait(sample_ns < until_ns ? sample_ns : until_ns)) {
        case SG_SCREEN_TIME:
            if (sample_ns >= until_ns)
                return true;
            *status = sample(showing);
            if (*status != SG_OK)
                return false;
            break;
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
        if (options->openmetrics != NULL)
            status = write_openmetrics(showing);
        else if (showing->has_screen)
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
    showing.has_screen = !options->json && options->openmetrics == NULL && options->count == 0 &&
                         sg_screen_is_there();
    if (showing.has_screen)
        sg_screen_begin(sg_style_is_seen(STDOUT_FILENO));
    status = show(&showing);
    if (showing.has_screen) {
        sg_screen_end();
        if (showing.has_view && status == SG_OK)
            status = print(&showing); /* leaves the last figures on the shell's screen */
    }
    if (showing.has_view)
        sg_live_view_clear(&showing.view);
    sg_live_rows_destroy(showing.rows);
    sg_live_job_close(&showing.job);
    return status;
}

/* ---- finding a job --------------------------------------------------------------------------- */

/* State of the job whose logs are in a directory. */
struct candidate {
    bool runs;
    uint64_t begin_ns; /* time of day */
};

/* Visits a log; any log whose writer lives is enough. */
static bool look_at(void *context, const char *path, int rank)
{
    struct candidate *candidate = context;
    struct sg_log_header header;
    struct sg_refusal why;
    int file;

    if (sg_file_open(path, O_NOFOLLOW, &file) != 0)
        return true;
    if (pread(file, &header, sizeof header, 0) == sizeof header &&
        sg_logread_check(&header, &why) == SG_OK && header.rank == rank &&
        atomic_load_explicit(&header.state, memory_order_relaxed) == SG_LOG_RUNNING &&
        sg_lock_writer_lives(file, &header)) {
        candidate->runs = true;
        candidate->begin_ns = header.realtime_ns;
    }
    close(file);
    return !candidate->runs;
}

/* Keeps the directory in *best_path if its job runs and is newer than *best. False: no memory. */
static bool consider(const char *path, struct candidate *best, char **best_path)
{
    struct candidate candidate = {0};
    char *copy;

    sg_logread_visit(path, look_at, &candidate);
    if (!candidate.runs || (best->runs && candidate.begin_ns <= best->begin_ns))
        return true;
    copy = strdup(path);
    if (copy == NULL)
        return false;
    free(*best_path);
    *best_path = copy;
    *best = candidate;
    return true;
}

/* Considers directories only: a log's path below anything else cannot be opened. */
static bool consider_below(const char *where, DIR *stream, struct candidate *best, char **best_path)
{
    struct dirent *entry;
    bool has_memory = true;

    while (has_memory && (entry = readdir(stream)) != NULL) {
        char *path;

        if (entry->d_name[0] == '.' ||
            (entry->d_type != DT_DIR && entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN))
            continue;
        if (strcmp(where, ".") == 0)
            path = strdup(entry->d_name);
        else if (asprintf(&path, "%s/%s", where, entry->d_name) < 0)
            path = NULL;
        has_memory = path != NULL && consider(path, best, best_path);
        free(path);
    }
    return has_memory;
}

enum sg_status sg_live_find(const char *where, char **directory)
{
    struct candidate best = {0};
    DIR *stream = opendir(where);
    bool has_memory;
    char *path = NULL;

    if (stream == NULL) {
        sg_log("%s: %m", where);
        return SG_ERR_SYSTEM;
    }
    has_memory = consider(where, &best, &path) && consider_below(where, stream, &best, &path);
    closedir(stream);
    if (!has_memory) {
        sg_log("%s: %s", where, sg_status_text(SG_ERR_MEMORY));
        free(path);
        return SG_ERR_MEMORY;
    }
    if (path == NULL) {
        sg_log("no running job found in %s; name its output directory: stagger watch DIR",
               strcmp(where, ".") == 0 ? "this directory" : where);
        return SG_ERR_MISSING;
    }
    *directory = path;
    return SG_OK;
}
