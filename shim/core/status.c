#include "core/status.h"

#include "core/altstack.h"
#include "core/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *sg_status_text(enum sg_status status)
{
    switch (status) {
    case SG_OK:
        return "ok";
    case SG_ERR_ARGUMENT:
        return "value out of range";
    case SG_ERR_SYNTAX:
        return "syntax error";
    case SG_ERR_SYSTEM:
        return "system call failed";
    case SG_ERR_FULL:
        return "limit reached";
    case SG_ERR_FORMAT:
        return "not the expected format";
    case SG_ERR_VERSION:
        return "another version of the format";
    case SG_ERR_MEMORY:
        return "out of memory";
    case SG_ERR_MISSING:
        return "not found";
    }
    return "unknown status";
}

/* NULL in the companion libraries: their callers ensure that the stack has room. */
#pragma weak sg_altstack_run

struct message {
    const char *format;
    va_list arguments;
    int error; /* for %m */
};

static void print(void *context)
{
    static const char prefix[] = "stagger: ";
    struct message *message = context;
    char text[1000 - sizeof prefix], line[1000];
    size_t used = sizeof prefix - 1;
    int length;

    memcpy(line, prefix, used);
    errno = message->error;
    length = vsnprintf(text, sizeof text, message->format, message->arguments);
    /* The message may quote a file's name or another process's setting: the terminal must not
     * interpret it. */
    sg_text_excerpt(text, length > 0 ? strlen(text) : 0, line + used, sizeof line - used - 1);
    used += strlen(line + used);
    line[used++] = '\n';
    /* One write, so that lines of several ranks do not mix. If stderr is gone, there is nothing to
     * do. */
    if (write(STDERR_FILENO, line, used) < 0) {
    }
}

void sg_log(const char *format, ...)
{
    struct message message = {.format = format, .error = errno};

    va_start(message.arguments, format);
    if (sg_altstack_run != NULL)
        sg_altstack_run(print, &message);
    else
        print(&message);
    va_end(message.arguments);
    errno = message.error;
}

void sg_log_drain(void)
{
    const struct timespec step = {.tv_nsec = 500000};
    struct stat stat;
    int saved_errno = errno;

    if (fstat(STDERR_FILENO, &stat) == 0 && S_ISFIFO(stat.st_mode))
        for (int tries = 0, waiting; tries < 400; tries++) {
            if (ioctl(STDERR_FILENO, FIONREAD, &waiting) != 0 || waiting == 0)
                break;
            nanosleep(&step, NULL);
        }
    errno = saved_errno;
}
