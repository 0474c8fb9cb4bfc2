/* The terminal that figures are drawn on, in place, and the keys that end it.
 *
 * The screen is another one than the shell's, which is there again when it is left. One at a time
 * in a process. */
#ifndef SG_WATCH_SCREEN_H
#define SG_WATCH_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether standard output is a terminal that can be drawn on. */
bool sg_screen_is_there(void);

/* Takes the terminal over, and the signals that end the program or tell of the terminal. */
void sg_screen_begin(bool color);
/* Gives it back. */
void sg_screen_end(void);

size_t sg_screen_columns(void);

/* Draws text in place of what is there: as many lines, and as much of each, as there is room for.
 * The first line, and the one behind the first empty line, are headings. */
void sg_screen_draw(const char *text);

enum sg_screen_event {
    SG_SCREEN_TIME,   /* it is time */
    SG_SCREEN_RESIZE, /* the terminal is another one: draw again */
    SG_SCREEN_LEAVE,  /* q, Ctrl-C, or a signal that ends programs */
};

/* Waits until that time of sg_clock_ns(), or an event. Without a screen: until then. */
enum sg_screen_event sg_screen_wait(uint64_t until_ns);

#endif
