/* Rules as text on the command line (--vs 'RULES'). They apply on a communicator of their own, in
 * addition to the rules in force: the communicator's name is inserted into each. A call that none
 * of them matches follows the rules in force. Free of MPI.
 */
#ifndef SG_BENCH_GIVEN_H
#define SG_BENCH_GIVEN_H

#include <stdbool.h>

/* The text's rules, each followed by ';' and bound to the communicator of that name; malloc'ed.
 * NULL if there are none, if one does not parse or names a communicator, or when out of memory;
 * logs nothing. */
char *sg_bench_given_bind(const char *text, const char *comm);

/* Whether the text can be bound; if not, logs one line that begins with source. */
bool sg_bench_given_check(const char *source, const char *text);

/* The rules that a command line gives to --vs; NULL if it gives none. Logs nothing: rank 0 parses
 * the options later. */
const char *sg_bench_given_find(int argc, char **argv);

#endif
