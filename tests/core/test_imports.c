/* Tests the search for functions that a program imports (core/imports.h). */
#include "core/imports.h"
#include "lib/unit.h"

#include <string.h>

static bool is_none(const char *object)
{
    (void)object;
    return false;
}

static bool is_other(const char *object)
{
    return strcmp(object, "the program") != 0;
}

static bool is_program(const char *object)
{
    return strcmp(object, "the program") == 0;
}

static bool is_of_cunit(const char *symbol)
{
    return strcmp(symbol, "CU_assertImplementation") == 0;
}

static bool is_own(const char *symbol)
{
    return strcmp(symbol, "sg_imports_find") == 0;
}

/* This program calls CUnit, whose library defines what it is asked for and does not import it. */
static void finds_what_the_program_imports(void)
{
    struct sg_import import = {"", ""};

    CU_ASSERT(sg_imports_find(is_other, is_of_cunit, &import));
    CU_ASSERT_STRING_EQUAL(import.object, "the program");
    CU_ASSERT_STRING_EQUAL(import.symbol, "CU_assertImplementation");
}

static void leaves_out_objects(void)
{
    struct sg_import import;

    CU_ASSERT(!sg_imports_find(is_program, is_of_cunit, &import));
}

static void does_not_take_definitions_for_imports(void)
{
    struct sg_import import;

    CU_ASSERT(!sg_imports_find(is_none, is_own, &import));
}

const struct unit_test unit_tests[] = {
    {"finds what the program imports", finds_what_the_program_imports},
    {"leaves out objects", leaves_out_objects},
    {"does not take definitions for imports", does_not_take_definitions_for_imports},
    {NULL, NULL},
};
