/* Tests the search for functions that a program imports, and their replacement (core/imports.h). */
#include "core/imports.h"
#include "lib/unit.h"

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
TEST("the reader finds the functions that the program imports")
{
    struct sg_import import = {"", ""};

    EXPECT(sg_imports_find(is_other, is_of_cunit, &import), text_is(import.object, "the program"),
           text_is(import.symbol, "CU_assertImplementation"));
}

TEST("the reader leaves out data objects")
{
    struct sg_import import;

    EXPECT(!sg_imports_find(is_program, is_of_cunit, &import));
}

TEST("the reader does not count definitions as imports")
{
    struct sg_import import;

    EXPECT(!sg_imports_find(is_none, is_own, &import));
}

static int number_of_none(int number)
{
    return -number;
}

/* A name that the compiler does not know, so that it calls the function. */
extern int upper(int letter) __asm__("toupper");

TEST("a program calls another function in the place of one that it imports")
{
    struct sg_replacement all[] = {{"toupper", (void *)number_of_none, NULL},
                                   {"no_such_function", (void *)number_of_none, NULL}};
    void *was;

    EXPECT(upper('a') == 'A', !sg_imports_replace((void *)number_of_none, all + 1, 1),
           sg_imports_replace((void *)number_of_none, all, 1), upper('a') == -'a');
    ASSERT(all[0].was != NULL);
    was = all[0].was;
    EXPECT(((int (*)(int))was)('b') == 'B', sg_imports_replace((void *)number_of_none, all, 1),
           was == all[0].was);
}
