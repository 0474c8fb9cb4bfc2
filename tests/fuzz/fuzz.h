/* Shared parts of the fuzzing targets. A target is one file fuzz_NAME.c that defines
 * LLVMFuzzerTestOneInput for clang's libFuzzer: it hands bytes to code that reads input from
 * outside, and calls abort() if that code breaks a promise. Sanitizers see the rest.
 *
 * Targets are deterministic: the same bytes take the same path.
 */
#ifndef SG_TESTS_FUZZ_FUZZ_H
#define SG_TESTS_FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts unless the invariant holds. */
static inline void fuzz_holds(int holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "broken: %s\n", what);
    abort();
}

/* Returns the bytes up to the first NUL as a terminated string, malloc'ed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    if (text == NULL)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* A file in memory that holds the bytes, and its path; closed by the caller. */
struct fuzz_file {
    int file;
    char path[40];
};

static inline struct fuzz_file fuzz_file(const uint8_t *data, size_t size)
{
    struct fuzz_file out = {.file = memfd_create("fuzz", MFD_CLOEXEC)};

    if (out.file < 0 || write(out.file, data, size) != (ssize_t)size)
        abort();
    snprintf(out.path, sizeof out.path, "/proc/self/fd/%d", out.file);
    return out;
}

/* Bytes taken one value after another; zeros past their end. */
struct fuzz_bytes {
    const uint8_t *at, *end;
};

static inline uint64_t fuzz_take(struct fuzz_bytes *bytes, int count)
{
    uint64_t value = 0;

    for (int i = 0; i < count; i++)
        value = value << 8 | (bytes->at < bytes->end ? *bytes->at++ : 0);
    return value;
}

#endif
