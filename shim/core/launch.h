/* How `stagger run` finds the output directories of what it launched: it gives its children a name
 * in STAGGER_LAUNCH, which rank 0 of each job writes into stagger.conf, in a line behind the one
 * that names the run.
 */
#ifndef SG_CORE_LAUNCH_H
#define SG_CORE_LAUNCH_H

#define SG_LAUNCH_VARIABLE "STAGGER_LAUNCH"
#define SG_LAUNCH_LINE "# launch "
/* Longer names, and names of other characters, are not written. */
#define SG_LAUNCH_BYTES 64
#define SG_LAUNCH_LETTERS "0123456789abcdef-"

/* The two lines with which stagger.conf begins. */
#define SG_RUN_FILE "stagger.conf"
#define SG_RUN_LINE "# run "

#endif
