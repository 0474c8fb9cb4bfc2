/* Lets `stagger run` find the output directories of the jobs it launched. It passes its children a
 * name in STAGGER_LAUNCH; rank 0 of each job writes it into stagger.conf, in a line after the one
 * that names the run. */
#ifndef SG_CORE_LAUNCH_H
#define SG_CORE_LAUNCH_H

#define SG_LAUNCH_VARIABLE "STAGGER_LAUNCH"
#define SG_LAUNCH_LINE "# launch "
/* Longer names, and names with other characters, are not written. */
#define SG_LAUNCH_BYTES 64
#define SG_LAUNCH_LETTERS "0123456789abcdef-"

/* stagger.conf begins with these two lines. */
#define SG_RUN_FILE "stagger.conf"
#define SG_RUN_LINE "# run "

#endif
