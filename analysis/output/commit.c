#include "output/commit.h"

const char sg_commit[] = SG_COMMIT;
