/* Tests which calls a signal of the library's interrupts:
 *
 *     late_calls FILE CALL...
 *
 * The parent makes each call before the leaf arrives, and the leaf arrives when the parent sleeps
 * in it. Prints "CALL: EINTR" or "CALL: restarted". Another thread ends a call that has gone on,
 * once the root has its result.
 */
#include "late.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define LONG_S 10000 /* longer than a script waits for us */

static int ends[2]; /* of a pipe */
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool ended;
static char fifo[4096];

static bool cut(bool failed)
{
    REQUIRE(!failed || errno == EINTR);
    return failed;
}

static bool call_sleep(void)
{
    return sleep(LONG_S) > 0;
}

static bool call_nanosleep(void)
{
    const struct timespec time = {LONG_S, 0};

    return cut(nanosleep(&time, NULL) != 0);
}

static bool call_poll(void)
{
    return cut(poll(NULL, 0, LONG_S * 1000) < 0);
}

static bool call_select(void)
{
    struct timeval time = {LONG_S, 0};

    return cut(select(0, NULL, NULL, NULL, &time) < 0);
}

static bool call_epoll_wait(void)
{
    struct epoll_event event;
    int descriptor = epoll_create1(0);
    bool failed = epoll_wait(descriptor, &event, 1, LONG_S * 1000) < 0;

    return cut(failed);
}

static bool call_read(void)
{
    char byte = 0;
    bool failed = read(ends[0], &byte, 1) < 0;

    REQUIRE(failed || byte == 'x');
    return cut(failed);
}

static bool call_system(void)
{
    char command[sizeof fifo + 32];

    snprintf(command, sizeof command, "read word <'%s'", fifo);
    REQUIRE(system(command) == 0);
    return false;
}

static bool call_waitpid(void)
{
    pid_t child = fork();
    char byte;

    REQUIRE(child >= 0);
    if (child == 0)
        _exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
    return cut(waitpid(child, NULL, 0) < 0);
}

static bool call_sem_wait(void)
{
    return cut(sem_wait(&semaphore) != 0);
}

static bool call_cond_wait(void)
{
    pthread_mutex_lock(&mutex);
    while (!ended)
        REQUIRE(pthread_cond_wait(&condition, &mutex) == 0);
    pthread_mutex_unlock(&mutex);
    return false;
}

static void *write_pipe(void *round)
{
    late_await(&late->result, *(int *)round);
    REQUIRE(write(ends[1], "x", 1) == 1);
    return NULL;
}

static void *write_fifo(void *round)
{
    late_await(&late->result, *(int *)round);
    int descriptor = open(fifo, O_WRONLY);
    REQUIRE(write(descriptor, "x\n", 2) == 2);
    REQUIRE(close(descriptor) == 0);
    return NULL;
}

static void *post(void *round)
{
    late_await(&late->result, *(int *)round);
    pthread_mutex_lock(&mutex);
    ended = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    sem_post(&semaphore);
    return NULL;
}

static const struct {
    const char *name;
    bool (*call)(void);
    void *(*end)(void *round); /* NULL: it ends by itself */
} calls[] = {{"sleep", call_sleep, NULL},
             {"nanosleep", call_nanosleep, NULL},
             {"poll", call_poll, NULL},
             {"select", call_select, NULL},
             {"epoll_wait", call_epoll_wait, NULL},
             {"read", call_read, write_pipe},
             {"waitpid", call_waitpid, write_pipe},
             {"system", call_system, write_fifo},
             {"sem_wait", call_sem_wait, post},
             {"pthread_cond_wait", call_cond_wait, post}};
static size_t chosen;

static void make_call(int round)
{
    void *(*ender)(void *) = calls[chosen].end;
    pthread_t thread;

    ended = false;
    if (ender != NULL)
        REQUIRE(pthread_create(&thread, NULL, ender, &round) == 0);
    atomic_store(&late->thread, (int)syscall(SYS_gettid));
    atomic_store(&late->process, getpid());
    bool was_cut = calls[chosen].call();
    printf("%s: %s\n", calls[chosen].name, was_cut ? "EINTR" : "restarted");
    fflush(stdout);
    late_await(&late->result, round);
    if (ender != NULL)
        REQUIRE(pthread_join(thread, NULL) == 0);
    atomic_store(&late->process, 0);
}

static bool is_asleep(int process, int thread)
{
    char path[64], text[256];

    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", process, thread);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return strstr(text, ") S ") != NULL;
}

int main(int argc, char **argv)
{
    MUST(MPI_Init(&argc, &argv));
    REQUIRE(argc > 2);
    late_start(argv[1]);
    snprintf(fifo, sizeof fifo, "%s.fifo", argv[1]);
    REQUIRE(pipe(ends) == 0 && sem_init(&semaphore, 0, 0) == 0);
    if (late_rank == 2)
        REQUIRE(mkfifo(fifo, 0600) == 0);
    for (int round = 0; round < argc - 2; round++) {
        for (chosen = 0; strcmp(calls[chosen].name, argv[round + 2]) != 0;)
            REQUIRE(++chosen < sizeof calls / sizeof *calls);
        if (late_rank == 3) {
            late_await(&late->process, 0);
            while (!is_asleep(atomic_load(&late->process), atomic_load(&late->thread)))
                sched_yield();
            atomic_store(&late->free, round + 1);
        }
        late_round(round, 0, make_call);
    }
    MUST(MPI_Finalize());
    return 0;
}
