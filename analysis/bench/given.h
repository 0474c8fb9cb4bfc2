/* Rules as text on the command line (--vs 'RULES'), which hold on a communicator of their own
 * beside the rules in force: each gets the communicator's name. A call that none of them matches
 * goes by the rules in force. Free of MPI.
 */
#ifndef SG_BENCH_GIVEN_H
#define SG_BENCH_GIVEN_H

#include <stdbool.h>

/* The text's rules, each with a ';' behind it and bound to the communicator of that name;
 * malloc'ed. NULL where it holds none, or one that does not parse or names a communicator, or when
 * out of memory: says nothing. */
char *sg_bench_given_bind(const char *text, const char *comm);

/* Whether it can be bound; if not, logs one line that begins with source. */
bool sg_bench_given_check(const char *source, const char *text);

/* The rules that a command line gives to --vs; NULL where it gives none. Says nothing: the options
 * are read later, on rank 0. */
const char *sg_bench_given_find(int argc, char **argv);

#endif
