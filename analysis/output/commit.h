/* The git commit that a program was built from; "unknown" without one. */
#ifndef SG_OUTPUT_COMMIT_H
#define SG_OUTPUT_COMMIT_H

extern const char sg_commit[];

#endif
