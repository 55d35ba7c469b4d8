/* SPDX-License-Identifier: MIT
 *
 * coding.c: see coding.h. What is named has the greatest weight that it is given; the star speaks
 * for what is not named. Identity that neither names is as good as least: any coding that is
 * welcome at all goes before it.
 */
#include "coding.h"
#include "format/format.h"
#include "negotiate.h"

#define UNNAMED (-1)
#define CODINGS 3

/* The better one stands later: that decides between equals. */
static const struct {
    const char *name, *alias; /* RFC 9110, 8.4.1.3: x-gzip is gzip */
} codings[CODINGS] = {
    [API_IDENTITY] = {"identity", "identity"},
    [API_GZIP] = {"gzip", "x-gzip"},
    [API_ZSTD] = {"zstd", "zstd"}, /* RFC 8878, 7.2 */
};

static bool is_float(enum pe_dtype dtype)
{
    switch (dtype) {
    case PE_DTYPE_I64:
    case PE_DTYPE_I32:
    case PE_DTYPE_U8:
    case PE_DTYPE_BOOL:
        return false;
    default:
        return true;
    }
}

bool api__codable(const struct api_table *table)
{
    if (table->format->compresses)
        return true;
    for (unsigned t = 0; t < table->tensor_count; t++)
        if (api_sends(table, t) && is_float(table->tensors[t].dtype))
            return false;
    return true;
}

const char *api__coding_name(enum api_coding coding)
{
    return coding == API_IDENTITY ? NULL : codings[coding].name;
}

static void note(struct api_bytes element, int weights[CODINGS], int *star)
{
    struct api_bytes name;
    int weight;
    if (!api__weighted(element, &name, &weight))
        return;
    if (api__equal(name, "*") && weight > *star)
        *star = weight;
    for (int i = 0; i < CODINGS; i++)
        if ((api__equal_case(name, codings[i].name) || api__equal_case(name, codings[i].alias)) &&
            weight > weights[i])
            weights[i] = weight;
}

bool api__coding(const struct api_request *request, enum api_coding *out)
{
    int weights[CODINGS] = {UNNAMED, UNNAMED, UNNAMED}, star = UNNAMED, best = 0;
    struct api_bytes line, element;
    size_t at = 0;
    *out = API_IDENTITY;
    while (api__next_header(request, "Accept-Encoding", &at, &line))
        while (api__next_element(&line, &element))
            note(element, weights, &star);
    for (int i = 0; i < CODINGS; i++) {
        int weight = weights[i] != UNNAMED ? weights[i] : star;
        if (weight <= 0 || weight < best)
            continue;
        best = weight;
        *out = (enum api_coding)i;
    }
    /* RFC 9110, 12.5.3: no coding at all is welcome unless it is forbidden by name or by the star.
     */
    bool plain = weights[API_IDENTITY] != 0 && (weights[API_IDENTITY] != UNNAMED || star != 0);
    return best > 0 || plain;
}
