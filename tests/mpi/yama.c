/* Emulates Linux's module Yama with ptrace_scope 1, as far as it affects stagger; preloaded. A
 * process may be read by descendants of the process that it names with prctl(PR_SET_PTRACER), if
 * any. (Its ancestors may read it as well; no rank is another's ancestor.)
 *
 * YAMA_DIR: a directory. YAMA_DIR/calls gets a line for each naming: who, whom; YAMA_DIR/reads one
 * for each read that the system decides about: who, and the bytes or -1. YAMA_SCOPE: 1; 3, nobody
 * may be read at all; "open", each process has named all of them at its start, as UCX does; "real",
 * the system decides.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *scope(void)
{
    const char *text = getenv("YAMA_SCOPE");

    return text != NULL ? text : "1";
}

static int open_state(int process, int flags)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%d", getenv("YAMA_DIR"), process);
    return open(path, flags, 0600);
}

static void name(long whom)
{
    int file = open_state(getpid(), O_WRONLY | O_CREAT | O_TRUNC);

    if (write(file, &whom, sizeof whom) < 0)
        abort();
    close(file);
}

static long named_by(int process)
{
    int file = open_state(process, O_RDONLY);
    long whom = 0;

    if (file >= 0 && read(file, &whom, sizeof whom) < 0)
        abort();
    close(file);
    return whom;
}

static int descends_from(int process, long ancestor)
{
    char path[64], text[512];

    while (process > 0 && process != ancestor) {
        snprintf(path, sizeof path, "/proc/%d/stat", process);
        int file = open(path, O_RDONLY);
        ssize_t length = read(file, text, sizeof text - 1);
        close(file);
        if (length <= 0 || (text[length] = '\0', strrchr(text, ')')) == NULL ||
            sscanf(strrchr(text, ')') + 1, " %*c %d", &process) != 1)
            return 0;
    }
    return process > 0;
}

static void note(const char *where, long what)
{
    char path[512], line[64];
    int file, length = snprintf(line, sizeof line, "%d %ld\n", getpid(), what);

    snprintf(path, sizeof path, "%s/%s", getenv("YAMA_DIR"), where);
    file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(file, line, (size_t)length) < 0)
        abort();
    close(file);
}

static int is_real(void)
{
    return strcmp(scope(), "real") == 0;
}

__attribute__((constructor)) static void start(void)
{
    if (strcmp(scope(), "open") == 0)
        name(-1);
}

int prctl(int option, ...)
{
    unsigned long more[4];
    va_list list;

    va_start(list, option);
    for (int i = 0; i < 4; i++)
        more[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_PTRACER) {
        note("calls", (long)more[0]);
        name((long)more[0]);
        if (!is_real())
            return 0;
    }
    return (int)syscall(SYS_prctl, option, more[0], more[1], more[2], more[3]);
}

ssize_t process_vm_readv(pid_t process, const struct iovec *to, unsigned long to_count,
                         const struct iovec *from, unsigned long from_count, unsigned long flags)
{
    long whom = named_by(process);
    ssize_t got;

    if (is_real()) {
        got = syscall(SYS_process_vm_readv, process, to, to_count, from, from_count, flags);
        note("reads", got);
        return got;
    }
    if (strcmp(scope(), "3") == 0 || whom == 0 || (whom != -1 && !descends_from(getpid(), whom))) {
        errno = EPERM;
        return -1;
    }
    return syscall(SYS_process_vm_readv, process, to, to_count, from, from_count, flags);
}
