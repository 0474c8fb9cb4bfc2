#include "lib/unit.h"

int main(void)
{
    return unit_run();
}
