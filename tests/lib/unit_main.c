/* The main of unit test programs. */
#include "lib/unit.h"

int main(void)
{
    return unit_run();
}
