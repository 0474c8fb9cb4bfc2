#include "sim/output.h"

const char sg_sim_commit[] = SG_COMMIT;
