/* Runs a test file's tests with CUnit and prints a line for each (unit.h). */
#include "lib/unit.h"

#include <CUnit/TestRun.h>
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <unistd.h>

/* Ends of the section, which the linker defines. */
extern const struct unit_test *__start_unit_tests[], *__stop_unit_tests[];

static char directory[64];

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    return remove(path);
}

static void remove_directory(void)
{
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *unit_directory(void)
{
    if (directory[0] == '\0') {
        const char *base = getenv("TMPDIR");

        snprintf(directory, sizeof directory, "%s/stagger-unit-XXXXXX", base ? base : "/tmp");
        if (mkdtemp(directory) == NULL) {
            perror("mkdtemp");
            exit(1);
        }
        atexit(remove_directory);
    }
    return directory;
}

const char *unit_fresh_directory(void)
{
    static char path[128];
    static int number;

    snprintf(path, sizeof path, "%s/%d", unit_directory(), number++);
    ASSERT(mkdir(path, 0777) == 0);
    return path;
}

const char *unit_write(const char *text, const char *path_format, ...)
{
    static char path[1024];
    va_list arguments;

    va_start(arguments, path_format);
    vsnprintf(path, sizeof path, path_format, arguments);
    va_end(arguments);
    for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        ASSERT(mkdir(path, 0777) == 0 || errno == EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    ASSERT(file != NULL, fputs(text, file) >= 0, fclose(file) == 0);
    return path;
}

struct unit_printer *unit_printer_open(void)
{
    struct unit_printer *printer = calloc(1, sizeof *printer);

    ASSERT(printer != NULL);
    printer->stream = open_memstream(&printer->text, &printer->size_bytes);
    ASSERT(printer->stream != NULL);
    return printer;
}

char *unit_printer_close(struct unit_printer *printer)
{
    fclose(printer->stream);
    char *text = printer->text;
    free(printer);
    return text;
}

static void on_complete(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failure)
{
    if (failure == NULL)
        printf("ok - %s\n", test->pName);
    else
        printf("not ok - %s (%s:%u: %s)\n", test->pName, failure->strFileName,
               failure->uiLineNumber, failure->strCondition);
    fflush(stdout);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct unit_test *const *first = a, *const *second = b;

    return (*first)->number - (*second)->number;
}

int unit_run(void)
{
    size_t count = (size_t)(__stop_unit_tests - __start_unit_tests);
    const struct unit_test *tests[count];

    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    CU_pSuite suite = CU_add_suite("unit", NULL, NULL);
    memcpy(tests, __start_unit_tests, sizeof tests);
    qsort(tests, count, sizeof tests[0], compare_numbers);
    for (size_t i = 0; i < count; i++) {
        if (CU_add_test(suite, tests[i]->sentence, tests[i]->run) == NULL) {
            fprintf(stderr, "cannot add test: %s\n", CU_get_error_msg());
            return 1;
        }
    }
    CU_set_test_complete_handler(on_complete);
    CU_run_all_tests();
    unsigned failed = CU_get_number_of_tests_failed();
    CU_cleanup_registry();
    return failed > 0;
}
