#include "runtime/process.h"

struct sg_process sg_process;
