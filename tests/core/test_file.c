/* Tests opening files, and allocating space for files and shared memory while signals come in.
 * posix_fallocate is this program's: it passes through, unless a test has it interrupted as tmpfs
 * interrupts it, which takes back all that the call has allocated. */
#include "core/file.h"
#include "lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define BLOCK 4096
#define BLOCKS 4096
/* No stand-in is asked so often by code that goes on. */
#define CALLS_MAX 1000000

static volatile sig_atomic_t signals;

static struct {
    off_t most_bytes; /* calls for more are interrupted; 0: those in which a signal comes */
    int fails_after;  /* calls that succeed before one finds the disk full; -1: never */
    int calls, interrupted;
    off_t longest;
    unsigned char given[BLOCKS];
} stand_in;

static void begin(off_t most_bytes)
{
    memset(&stand_in, 0, sizeof stand_in);
    stand_in.most_bytes = most_bytes;
    stand_in.fails_after = -1;
}

static int allocate_until_signal(int file, off_t offset, off_t bytes)
{
    sig_atomic_t before = signals;

    for (off_t done = 0; done < bytes; done += BLOCK) {
        if (fallocate(file, 0, offset + done, BLOCK) != 0)
            return errno;
        if (signals != before) {
            fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
            stand_in.interrupted++;
            return EINTR;
        }
    }
    return 0;
}

int posix_fallocate(int file, off_t offset, off_t bytes)
{
    if (stand_in.most_bytes == 0)
        return allocate_until_signal(file, offset, bytes);
    if (++stand_in.calls > CALLS_MAX) /* for ever: seen as the wrong error */
        return EDEADLK;
    if (bytes > stand_in.most_bytes) {
        stand_in.interrupted++;
        return EINTR;
    }
    if (stand_in.fails_after >= 0 && stand_in.fails_after-- == 0)
        return ENOSPC;
    stand_in.longest = bytes > stand_in.longest ? bytes : stand_in.longest;
    for (off_t at = offset; at < offset + bytes; at += BLOCK)
        stand_in.given[at / BLOCK] = 1;
    return 0;
}

static int count_given(void)
{
    int count = 0;

    for (int i = 0; i < BLOCKS; i++)
        count += stand_in.given[i];
    return count;
}

TEST("an allocation that is interrupted above some size is made in pieces")
{
    static const off_t limits[] = {BLOCK, 3 * BLOCK, 100 * BLOCK, BLOCKS * BLOCK};

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        begin(limits[i]);
        EXPECT(sg_file_allocate(-1, BLOCK, (BLOCKS - 2) * BLOCK) == 0, count_given() == BLOCKS - 2,
               stand_in.given[0] == 0, stand_in.given[BLOCKS - 1] == 0);
    }
}

TEST("sizes need not be whole blocks")
{
    begin(BLOCK);
    EXPECT(sg_file_allocate(-1, 0, 1) == 0, count_given() == 1);
    begin(5 * BLOCK);
    EXPECT(sg_file_allocate(-1, 0, 1000 * BLOCK + 7) == 0, count_given() == 1001);
}

/* Pieces grow again behind an interruption: not every one of them is tried in vain. */
TEST("pieces grow while allocations succeed")
{
    begin(64 * BLOCK);
    EXPECT(sg_file_allocate(-1, 0, BLOCKS * BLOCK) == 0, stand_in.longest == 64 * BLOCK,
           stand_in.interrupted < stand_in.calls);
}

TEST("an allocation that is interrupted forever is given up")
{
    begin(1);
    EXPECT(sg_file_allocate(-1, 0, BLOCKS * BLOCK) == EINTR, count_given() == 0);
}

TEST("a full disk is reported")
{
    begin(16 * BLOCK);
    stand_in.fails_after = 3;
    EXPECT(sg_file_allocate(-1, 0, BLOCKS * BLOCK) == ENOSPC);
}

/* ---- a real timer ----------------------------------------------------------------------------*/

#define MEMORY_BYTES (256u << 20)
/* In code that goes on there are some thousand at most. */
#define SIGNALS_MAX 30000

static void stop_timer(void)
{
    const struct itimerval off = {0};

    setitimer(ITIMER_REAL, &off, NULL);
}

static void on_alarm(int number)
{
    if (++signals == SIGNALS_MAX)
        stop_timer();
}

TEST("256 MiB of memory are allocated under a timer of 1 ms")
{
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    const struct itimerval timer = {{0, 1000}, {0, 1000}};
    int file = memfd_create("interrupted", MFD_CLOEXEC);
    struct stat info = {0};

    begin(0);
    ASSERT(file >= 0);
    signals = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    EXPECT(sg_file_allocate(file, 0, MEMORY_BYTES) == 0);
    stop_timer();
    EXPECT(signals<SIGNALS_MAX, stand_in.interrupted> 0, fstat(file, &info) == 0,
           info.st_blocks == MEMORY_BYTES / 512);
    close(file);
}

/* ---- reading ---------------------------------------------------------------------------------*/

static const char *below(const char *name)
{
    static char paths[4][300];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", unit_directory(), name);
    return path;
}

static int opened(const char *path, int flags)
{
    int file = -1, error = sg_file_open(path, flags, &file);
    char byte = 0;

    EXPECT((error == 0) == (file >= 0));
    if (file >= 0) {
        EXPECT(read(file, &byte, 1) == 1, byte == 'x');
        close(file);
    }
    return error;
}

TEST("regular files are opened; FIFOs, devices and links not to be followed are refused")
{
    FILE *file = fopen(below("file"), "w");

    ASSERT(file != NULL);
    fputc('x', file);
    fclose(file);
    EXPECT(mkfifo(below("fifo"), 0600) == 0, symlink("file", below("link")) == 0,
           symlink("fifo", below("to-fifo")) == 0, opened(below("file"), O_NOFOLLOW) == 0,
           opened(below("link"), 0) == 0, opened(below("link"), O_NOFOLLOW) == SG_FILE_LINK,
           opened(below("fifo"), 0) == SG_FILE_IRREGULAR,
           opened(below("to-fifo"), 0) == SG_FILE_IRREGULAR,
           opened("/dev/tty", 0) == SG_FILE_IRREGULAR,
           opened(unit_directory(), 0) == SG_FILE_IRREGULAR, opened(below("none"), 0) == ENOENT);
}

/* ---- limits ----------------------------------------------------------------------------------*/

TEST("the limit on a file's size is respected")
{
    struct rlimit before, limit;

    begin(BLOCKS * BLOCK);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 8 * BLOCK;
    ASSERT(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    EXPECT(sg_file_allocate(-1, 0, 9 * BLOCK) == EFBIG,
           sg_file_allocate(-1, BLOCK, UINT64_MAX - BLOCK + 1) == EFBIG,
           sg_file_allocate(-1, 0, 8 * BLOCK) == 0);
    setrlimit(RLIMIT_FSIZE, &before);
    EXPECT(count_given() == 8);
}
