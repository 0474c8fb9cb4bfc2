/* Colours and bold text: on a terminal that has them, unless NO_COLOR says otherwise
 * (no-color.org); nothing anywhere else, so that files and pipes get plain text.
 *
 *     fprintf(out, "%slost waiting%s", sg_style(SG_BOLD, out), sg_style(SG_PLAIN, out));
 */
#ifndef SG_OUTPUT_STYLE_H
#define SG_OUTPUT_STYLE_H

#include <stdbool.h>
#include <stdio.h>

enum sg_style { SG_PLAIN, SG_BOLD, SG_RED, SG_GREEN, SG_YELLOW };

/* Whether what is written to the descriptor is seen in colour. */
bool sg_style_is_seen(int descriptor);

/* What switches to a style, SG_PLAIN from any other; "" where no style is seen. What a stream is
 * does not change: standard output is looked at once. Not thread-safe. */
const char *sg_style(enum sg_style style, FILE *out);

/* A line's label, bold, and blanks up to its text. */
void sg_style_put_label(const char *label, FILE *out);

#endif
