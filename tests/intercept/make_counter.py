"""Writes a library that counts MPI calls, to be preloaded before everything else.

usage: make_counter.py TABLE FORTRAN_SYMBOLS >counter.c

Uses only the names in stagger's table of functions (shim/profile/functions.table) and passes arguments through as
words. FORTRAN_SYMBOLS lists MPICH symbols that call no C symbol, one per line. Does not count nested
calls, nor calls between MPI_Pcontrol(0) and MPI_Pcontrol(1). MPI_Finalize appends a line "FUNCTION CALLS" to the file that COUNTS names.
"""

import re
import sys

WORDS = ", ".join("long w%d" % i for i in range(14))
GIVEN = ", ".join("w%d" % i for i in range(14))

HEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static __thread int depth;
static atomic_int is_off;
static atomic_long counts[%d];
static const char *const names[] = {%s};

static void *find(const char *symbol) { return dlsym(RTLD_NEXT, symbol); }

static void put(void)
{
    FILE *out = fopen(getenv("COUNTS"), "a");
    char line[65536] = "";

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (counts[i] > 0)
            sprintf(line + strlen(line), "%%s %%ld\\n", names[i], (long)counts[i]);
    }
    /* At once: all ranks append to one file. */
    setvbuf(out, NULL, _IOFBF, sizeof line);
    fputs(line, out);
    fclose(out);
}

int MPI_Pcontrol(int level, ...)
{
    int (*next)(int, ...) = (int (*)(int, ...))find("MPI_Pcontrol");

    is_off = level == 0;
    return next(level);
}

void mpi_pcontrol_f08_(int *level)
{
    void (*next)(int *) = (void (*)(int *))find("mpi_pcontrol_f08_");

    is_off = *level == 0;
    next(level);
}

int MPI_Finalize(void)
{
    int (*next)(void) = (int (*)(void))find("MPI_Finalize");

    put();
    return next();
}

void mpi_finalize_f08_(long ierror)
{
    void (*next)(long) = (void (*)(long))find("mpi_finalize_f08_");

    put();
    next(ierror);
}
"""

CALL = """
%(type)s %(symbol)s(%(words)s)
{
    static %(type)s (*next)(%(words)s);
    if (next == NULL)
        next = (%(type)s (*)(%(words)s))find("%(symbol)s");
    if (depth++ == 0 && !is_off)
        counts[%(index)d]++;
    %(result)snext(%(given)s);
    depth--;
%(end)s}
"""


def main():
    rows = re.findall(r"^MPI_(\w+)(\[_c\])?", open(sys.argv[1]).read(), re.M)
    functions = [name + suffix for name, wide in rows for suffix in ("", "_c")[:1 + (wide != "")]]
    fortran = {line.strip() for line in open(sys.argv[2])}
    bases = sorted({re.sub(r"_c$", "", name) for name in functions})
    print(HEAD % (len(bases), ", ".join('"MPI_%s"' % base for base in bases)))
    for name in functions:
        index = bases.index(re.sub(r"_c$", "", name))
        print(CALL % {"type": "int", "symbol": "MPI_" + name, "words": WORDS, "given": GIVEN,
                      "index": index, "result": "int error = ", "end": "    return error;\n"})
        symbol = "mpi_%s_f08_" % name.lower()
        if symbol in fortran:
            print(CALL % {"type": "void", "symbol": symbol, "words": WORDS, "given": GIVEN,
                          "index": index, "result": "", "end": ""})


if __name__ == "__main__":
    main()
