/* SPDX-License-Identifier: MIT
 *
 * resolve_family.c: see resolve_family.h.
 */
#include "resolve_family.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

#define SPLIT API__PAIRS_SPLIT
#define NEIGHBOURS API__PAIRS_NEIGHBOURS
#define LOCAL API__RULE_LOCAL
#define SCALED API__RULE_SCALED
#define SLIDING API__RULE_SLIDING
#define WINDOW API__RULE_WINDOW
#define LISTED API__RULE_LISTED
#define TWO API__RULE_TWO
#define HYBRID API__RULE_HYBRID
#define LEARNED API__SCHEME_LEARNED
#define SINUSOIDAL API__SCHEME_SINUSOIDAL
#define OPEN PE_LADDER_OPEN
#define CLOSED PE_LADDER_CLOSED
#define ALIBI_FLAG API__CHOICE_ALIBI_FLAG
#define SINUSOIDAL_FLAG API__CHOICE_SINUSOIDAL_FLAG

static const struct api__family families[] = {
#define API_FAMILY(id, kind, ...) {.name = id, .scheme = API__SCHEME_##kind, __VA_ARGS__},
#define API_ARCH(arch, family, pairs)
#include "resolve_families.def"
#undef API_FAMILY
#undef API_ARCH
};

static const struct {
    const char *arch, *family;
    enum api__pairs pairs;
} archs[] = {
#define API_FAMILY(name, scheme, ...)
#define API_ARCH(arch, family, pairs) {arch, family, pairs},
#include "resolve_families.def"
#undef API_FAMILY
#undef API_ARCH
};

static const struct api__family *find_whole(const char *name, size_t len)
{
    for (size_t i = 0; i < COUNT(families); i++)
        if (strlen(families[i].name) == len && memcmp(families[i].name, name, len) == 0)
            return &families[i];
    return NULL;
}

static const struct api__family *find(const char *name)
{
    size_t len = strlen(name);
    const struct api__family *family = find_whole(name, len);
    if (!family && len > 5 && strcmp(name + len - 5, "_text") == 0)
        family = find_whole(name, len - 5);
    return family;
}

static bool find_arch(const char *name, struct api__family *out)
{
    for (size_t i = 0; i < COUNT(archs); i++) {
        if (strcmp(archs[i].arch, name) != 0)
            continue;
        *out = *find(archs[i].family);
        out->name = name;
        out->pairs = archs[i].pairs;
        out->base = out->partial = out->head_dim = out->rotary_dim = out->rows = 0;
        return true;
    }
    return false;
}

bool api__find_family(const struct api__config *config, struct api__family *out)
{
    const struct api__family *family;
    *out = (struct api__family){.name = config->family};
    if (config->dialect == API__GGUF)
        return find_arch(config->family, out);
    if (config->dialect == API__MEGATRON) {
        *out = (struct api__family){
            .name = "the flags", .scheme = API__SCHEME_LEARNED, .pairs = SPLIT};
        return true;
    }
    family = find(config->family);
    if (!family)
        family = find(config->outer);
    if (family)
        *out = *family;
    return family != NULL;
}
