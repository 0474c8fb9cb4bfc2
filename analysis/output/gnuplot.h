/* Figures through gnuplot: a figure is complete or not there. Nothing of the user's settings is in
 * it.
 */
#ifndef SG_OUTPUT_GNUPLOT_H
#define SG_OUTPUT_GNUPLOT_H

#include "core/status.h"

#include <stdio.h>

/* Where the script goes; NULL: one line has said why. who: what the lines begin with. */
FILE *sg_gnuplot_script(const char *who);

/* The text in gnuplot's quotes. */
void sg_gnuplot_quote(const char *text, FILE *script);

/* Runs it, with its output for the file (output_file.h), and closes it in any case.
 * SG_ERR_MISSING: there is no gnuplot; SG_ERR_SYSTEM: it does not draw; one line has said so. */
enum sg_status sg_gnuplot_run(FILE *script, const char *path, const char *who);

#endif
