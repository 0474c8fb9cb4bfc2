#include "trace/export/symbol_name.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *length, int *status);

static demangle_fn demangler;

/* A C++ program brings the demangler along; elsewhere the C++ library is asked for it, into its
 * own scope, and only when there is a mangled name to show. */
static void find_demangler(void)
{
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");

    if (found == NULL) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

        found = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    }
    memcpy(&demangler, &found, sizeof demangler);
}

static char *demangle(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status = 0;

    pthread_once(&once, find_demangler);
    return demangler != NULL ? demangler(name, NULL, NULL, &status) : NULL;
}

/* "step.constprop.0" and "step [clone .part.1]" are parts or copies of step. */
static void cut_clone_suffix(char *name)
{
    static const char *const suffixes[] = {".constprop.", ".isra.", ".part.", ".cold",
                                           ".lto_priv."};
    char *clone = strstr(name, " [clone ");

    if (clone != NULL)
        *clone = '\0';
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *suffix = strstr(name, suffixes[i]);

        if (suffix != NULL && suffix > name)
            *suffix = '\0';
    }
}

/* Cuts the parameter list, the last balanced pair of round brackets, and what follows it. */
static void cut_parameters(char *name)
{
    char *close = strrchr(name, ')');
    int depth = 0;

    if (close == NULL)
        return;
    for (char *at = close; at >= name; at--) {
        if (*at == ')')
            depth++;
        else if (*at == '(' && --depth == 0) {
            bool is_parameters = at > name && strncmp(at, "(anonymous namespace)::", 23) != 0;

            if (is_parameters)
                *at = '\0';
            return;
        }
    }
}

/* Only templates carry their return type: what stands before the last blank outside brackets. */
static char *skip_return_type(char *name)
{
    char *start = name;
    int depth = 0;

    if (strstr(name, "operator") != NULL)
        return name;
    for (char *at = name; *at != '\0'; at++) {
        if (*at == '<' || *at == '(')
            depth++;
        else if (*at == '>' || *at == ')')
            depth--;
        else if (*at == ' ' && depth == 0)
            start = at + 1;
    }
    return start;
}

char *sg_symbol_name(const char *linkage_name)
{
    char *shown = NULL;
    char *name;

    if (strncmp(linkage_name, "_Z", 2) == 0)
        shown = demangle(linkage_name);
    if (shown == NULL) {
        name = strdup(linkage_name);
        if (name != NULL)
            cut_clone_suffix(name);
        return name;
    }
    cut_clone_suffix(shown);
    cut_parameters(shown);
    name = strdup(skip_return_type(shown));
    free(shown);
    return name;
}
