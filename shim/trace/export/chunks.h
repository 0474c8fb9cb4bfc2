/* From OTF2's memory to the archive's files.
 *
 * OTF2 3.0 frees a buffer twice, and so crashes, where a file cannot be written any further; and it
 * opens files by paths. So it writes none (OTF2_SUBSTRATE_NONE) and we do: the chunks that it fills
 * are memory that its memory callbacks get from us, and when it has flushed them, which it says by
 * freeing them, they hold what belongs into the file. A file that cannot be written fails the
 * archive, and OTF2 never hears of it.
 */
#ifndef SG_TRACE_CHUNKS_H
#define SG_TRACE_CHUNKS_H

#include "trace/export/archive.h"

/* Sets the callbacks of the archive's handle, which has just been created; NULL: does nothing. */
void sg_chunks_start(struct sg_archive *archive);

#endif
