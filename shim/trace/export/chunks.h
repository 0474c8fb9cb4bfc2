/* Writes the archive's files from OTF2's memory.
 *
 * OTF2 3.0 frees a buffer twice, and crashes, when a file cannot be written any further; and it
 * opens files by path. So OTF2 writes no files (OTF2_SUBSTRATE_NONE); this module does. OTF2 fills
 * chunks that its memory callbacks get from here. When OTF2 frees them after a flush, they contain
 * the bytes of the file. A file that cannot be written fails the archive; OTF2 does not learn of
 * it.
 */
#ifndef SG_TRACE_CHUNKS_H
#define SG_TRACE_CHUNKS_H

#include "trace/export/archive.h"

/* Sets the callbacks of the archive's handle, which has just been created; NULL: does nothing. */
void sg_chunks_start(struct sg_archive *archive);

#endif
