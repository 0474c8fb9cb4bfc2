#include "output/style.h"

#include "core/config.h"

#include <string.h>
#include <unistd.h>

#define LABEL_COLUMNS 19

bool sg_style_is_seen(int descriptor)
{
    const char *kind = sg_config_environment("TERM");
    const char *refused = sg_config_environment("NO_COLOR");

    return (refused == NULL || refused[0] == '\0') && kind != NULL && kind[0] != '\0' &&
           strcmp(kind, "dumb") != 0 && descriptor >= 0 && isatty(descriptor);
}

const char *sg_style(enum sg_style style, FILE *out)
{
    static const char *const texts[] = {[SG_PLAIN] = "\033[0m",
                                        [SG_BOLD] = "\033[1m",
                                        [SG_RED] = "\033[31m",
                                        [SG_GREEN] = "\033[32m",
                                        [SG_YELLOW] = "\033[33m"};
    static enum { UNKNOWN, UNSEEN, SEEN } output;

    if (out != stdout)
        return sg_style_is_seen(fileno(out)) ? texts[style] : "";
    if (output == UNKNOWN)
        output = sg_style_is_seen(STDOUT_FILENO) ? SEEN : UNSEEN;
    return output == SEEN ? texts[style] : "";
}

void sg_style_put_label(const char *label, FILE *out)
{
    int blanks = LABEL_COLUMNS - (int)strlen(label);

    fprintf(out, "%s%s%s%*s", sg_style(SG_BOLD, out), label, sg_style(SG_PLAIN, out),
            blanks > 0 ? blanks : 1, "");
}
