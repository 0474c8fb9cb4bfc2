#include "watch/screen.h"

#include "core/clock.h"
#include "core/config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

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
    sigset_t waiting; /* the mask while it waits: the signals come then, and at no other time */
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

/* ---- the terminal ---------------------------------------------------------------------------- */

bool sg_screen_is_there(void)
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

size_t sg_screen_columns(void)
{
    return size_of().ws_col;
}

/* All of it, or nothing can be done about it. */
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

/* Keys come one by one and unseen; Ctrl-C and Ctrl-Z stay signals. */
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

void sg_screen_begin(bool color)
{
    take_signals();
    screen.has_color = color;
    screen.has_keys = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
                      tcgetattr(STDIN_FILENO, &screen.before) == 0;
    take_keys();
    put(OTHER_SCREEN, strlen(OTHER_SCREEN));
    screen.is_on = true;
}

void sg_screen_end(void)
{
    if (!screen.is_on)
        return;
    screen.is_on = false;
    put(OWN_SCREEN, strlen(OWN_SCREEN));
    if (screen.has_keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Bytes of the line's first so many characters, of which each is one column wide. */
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

void sg_screen_draw(const char *text)
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

/* Whether one of the keys that are there is to end it. */
static bool is_left(short events)
{
    char keys[64];
    ssize_t got = (events & POLLIN) != 0 ? read(STDIN_FILENO, keys, sizeof keys) : 0;

    for (ssize_t i = 0; i < got; i++) {
        if (keys[i] == 'q' || keys[i] == 'Q')
            return true;
    }
    if (got <= 0 && (events & (POLLHUP | POLLERR | POLLNVAL)) != 0)
        screen.has_keys = false; /* the terminal is gone, or was never one to be read */
    return false;
}

enum sg_screen_event sg_screen_wait(uint64_t until_ns)
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
