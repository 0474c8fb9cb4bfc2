/* The terminal on which a user sees what a process writes.
 *
 * Launchers read their ranks' output through pipes, so that a rank's own descriptors are hardly
 * ever a terminal's; what becomes of the output says the same descriptor of the launcher. Free of
 * MPI.
 */
#ifndef SG_OUTPUT_TERMINAL_H
#define SG_OUTPUT_TERMINAL_H

/* Opens the terminal on which standard output (1) or standard error (2) is seen: the descriptor's
 * own, or, where it is a pipe, that of the launcher among the process's ancestors. -1: none is. */
int sg_terminal_open(int descriptor);

#endif
