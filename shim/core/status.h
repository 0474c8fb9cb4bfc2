/* Status codes, and the only function that prints messages for the user.
 *
 * The first function that detects an error logs it (one line on stderr); callers propagate the
 * status. Every line begins "stagger: " and is written with one write(2), so that lines of several
 * ranks do not mix.
 *
 * Thread-safe. Not async-signal-safe (formats with vsnprintf). */
#ifndef SG_CORE_STATUS_H
#define SG_CORE_STATUS_H

enum sg_status {
    SG_OK = 0,
    SG_ERR_ARGUMENT, /* a value from a caller or user is out of range */
    SG_ERR_SYNTAX,   /* text that does not parse */
    SG_ERR_SYSTEM,   /* a system call failed; see errno */
    SG_ERR_FULL,     /* a bounded resource is exhausted */
    SG_ERR_FORMAT,   /* a file has the wrong format */
    SG_ERR_VERSION,  /* a file has another version of its format */
    SG_ERR_MEMORY,   /* malloc failed */
    SG_ERR_MISSING   /* a library, symbol or file is missing */
};

/* A short lower-case noun phrase for a status ("out of memory"); never NULL, static storage. */
const char *sg_status_text(enum sg_status status);

/* Writes "stagger: <message>\n" to stderr; %m is errno's text. Lines over 1000 bytes are cut. */
void sg_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Waits at most 200 ms until stderr's reader has taken everything written: a launcher that ends the
 * job at the same moment drops what is still in the pipe. Returns at once if stderr is no pipe. */
void sg_log_drain(void);

#endif
