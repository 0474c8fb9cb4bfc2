/* The pages' styles and scripts as text in the program: the assembler includes the files in
 * analysis/page/assets, by paths relative to the top of the tree.
 */
#include "page/html.h"

#define ASSET(symbol, file)                                                                        \
    __asm__(".section .rodata\n"                                                                   \
            ".global " #symbol "\n"                                                                \
            ".hidden " #symbol "\n"                                                                \
            ".type " #symbol ", @object\n" #symbol ":\n"                                           \
            ".incbin \"analysis/page/assets/" file "\"\n"                                          \
            ".byte 0\n"                                                                            \
            ".size " #symbol ", . - " #symbol "\n"                                                 \
            ".previous\n")

ASSET(sg_page_css, "page.css");
ASSET(sg_charts_js, "charts.js");
ASSET(sg_table_js, "table.js");
ASSET(sg_report_js, "report.js");
ASSET(sg_messages_js, "messages.js");
ASSET(sg_stretch_js, "stretch.js");
ASSET(sg_causes_js, "causes.js");
ASSET(sg_slices_js, "slices.js");
ASSET(sg_compare_js, "compare.js");
