/* SPDX-License-Identifier: MIT
 *
 * assets.c: see assets.h. The assembler takes the files in from the top folder, where builds run.
 */
#include "assets.h"

#define ASSET(symbol, file)                                                  \
    __asm__(".section .rodata\n"                                             \
            ".balign 16\n"                                                   \
            ".global api__asset_" #symbol "\n"                               \
            ".global api__asset_" #symbol "_end\n"                           \
            ".hidden api__asset_" #symbol "\n"                               \
            ".hidden api__asset_" #symbol "_end\n"                           \
            "api__asset_" #symbol ":\n"                                      \
            ".incbin \"" file "\"\n"                                         \
            "api__asset_" #symbol "_end:\n"                                  \
            ".byte 0\n"                                                      \
            ".previous\n");                                                  \
    extern const char api__asset_##symbol[], api__asset_##symbol##_end[];    \
    struct api_bytes api__##symbol(void)                                     \
    {                                                                        \
        uintptr_t from = (uintptr_t)api__asset_##symbol,                     \
                  to = (uintptr_t)api__asset_##symbol##_end;                 \
        return (struct api_bytes){api__asset_##symbol, (size_t)(to - from)}; \
    }

ASSET(openapi, "api/openapi.json")
ASSET(explorer, "api/pages/explorer.html")
ASSET(docs, "api/pages/docs.html")
ASSET(client, "api/client.py")
