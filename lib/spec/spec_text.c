/* SPDX-License-Identifier: MIT
 *
 * spec_text.c: the canonical text of a spec.
 *
 * One spelling for each value: integers in decimal, reals as the shortest decimal that reads back,
 * runs of positions as a-b. What does not bear on the table does not stand in the text, so that
 * equal tables that were asked for in different words mostly share one; different tables never do.
 */
#include "posenc_decimal.h"
#include "spec.h"

#include <string.h>

/* Counts everything, keeps what fits. */
struct sink {
    char *out;
    size_t size;
    size_t len;
};

static void put(struct sink *sink, const char *text, size_t n)
{
    if (sink->len < sink->size) {
        size_t room = sink->size - sink->len;
        memcpy(sink->out + sink->len, text, n < room ? n : room);
    }
    sink->len += n;
}

static void put_text(struct sink *sink, const char *text)
{
    put(sink, text, strlen(text));
}

static size_t finish(struct sink *sink)
{
    if (sink->size)
        sink->out[sink->len < sink->size ? sink->len : sink->size - 1] = 0;
    return sink->len;
}

/* ---------------------------------------------------------------- values */

static void put_int(struct sink *sink, int64_t v)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t n = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    if (v < 0)
        digits[--at] = '-';
    put(sink, digits + at, sizeof digits - at);
}

/* 10000 and 1e300, not 10000.0 and 1e+300: a query would have to escape the plus. */
static void put_real(struct sink *sink, double v)
{
    char text[PE_DECIMAL_ROOM], *plus;
    size_t len;
    if (v - v != 0) { /* only in a complaint about it */
        put_text(sink, v != v ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    len = pe_decimal_f64(v, text);
    if (len > 2 && memcmp(text + len - 2, ".0", 2) == 0)
        len -= 2;
    if ((plus = memchr(text, '+', len)))
        memmove(plus, plus + 1, (size_t)(text + len-- - plus - 1));
    put(sink, text, len);
}

static void put_ints(struct sink *sink, const struct pe_ints *list, bool runs)
{
    for (size_t i = 0; i < list->count;) {
        size_t end = i + 1;
        while (runs && list->at[i] >= 0 && end < list->count &&
               list->at[end] == list->at[end - 1] + 1)
            end++;
        if (i)
            put(sink, ",", 1);
        put_int(sink, list->at[i]);
        if (end - i > 2) {
            put(sink, "-", 1);
            put_int(sink, list->at[end - 1]);
            i = end;
        } else {
            i++;
        }
    }
}

static void put_shape(struct sink *sink, const struct pe_spec *s)
{
    put_text(sink, ";shape=");
    for (unsigned i = 0; i < s->rank; i++) {
        put(sink, "x", i > 0);
        put_int(sink, (int64_t)s->shape[i]);
    }
}

static const char *word_of(enum pe_param p, int value)
{
    const char *const *words = pe_param_info(p)->choices;
    if (p == PE_PARAM_DTYPE)
        return value >= 0 && value < PE_DTYPES ? pe_dtype_name((enum pe_dtype)value) : "?";
    for (int i = 0; words[i]; i++)
        if (i == value)
            return words[i];
    return "?";
}

static void put_value(struct sink *sink, const struct pe_spec *s, enum pe_param p)
{
    const struct pe_param_info *info = pe_param_info(p);
    const void *at = (const char *)s + info->offset;
    const struct pe_reals *reals;
    switch (info->type) {
    case PE_TYPE_INT:
        put_int(sink, *(const int64_t *)at);
        break;
    case PE_TYPE_REAL:
        put_real(sink, *(const double *)at);
        break;
    case PE_TYPE_BOOL:
        put_text(sink, *(const bool *)at ? "true" : "false");
        break;
    case PE_TYPE_CHOICE:
        put_text(sink, word_of(p, *(const int *)at));
        break;
    case PE_TYPE_INTS:
        put_ints(sink, at, p == PE_PARAM_POSITIONS);
        if (p == PE_PARAM_POSITIONS && s->rank != 1)
            put_shape(sink, s);
        break;
    case PE_TYPE_REALS:
        reals = at;
        for (size_t i = 0; i < reals->count; i++) {
            put(sink, ",", i > 0);
            put_real(sink, reals->at[i]);
        }
    }
}

size_t pe_spec_value(const struct pe_spec *s, enum pe_param p, char *out, size_t size)
{
    struct sink sink = {out, size, 0};
    put_value(&sink, s, p);
    return finish(&sink);
}

/* ---------------------------------------------------------------- what bears on a table */

static bool has_mscale(const struct pe_spec *s)
{
    return !pe__given(s, PE_PARAM_ATTENTION_FACTOR) && s->mscale != 0 && s->mscale_all_dim != 0;
}

/* Of what is used and has a value, what has an effect. */
static bool bears(const struct pe_spec *s, enum pe_param p)
{
    bool listed = pe__given(s, PE_PARAM_POSITIONS);
    switch (p) {
    case PE_PARAM_LENGTH:
    case PE_PARAM_HEIGHT:
    case PE_PARAM_COLUMNS:
        return !listed;
    case PE_PARAM_OFFSET:
    case PE_PARAM_QUERIES:
    case PE_PARAM_SYMMETRIC:
    case PE_PARAM_MASKED:
        return !listed && (s->kind != PE_KIND_ALIBI || pe__given(s, PE_PARAM_LENGTH));
    case PE_PARAM_HEAD_DIM:
    case PE_PARAM_PARTIAL_ROTARY_FACTOR:
        return s->rope_type == PE_ROPE_TYPE_PROPORTIONAL;
    case PE_PARAM_ODD:
        return s->width % 2;
    case PE_PARAM_INVERSE:
        return s->layout != PE_LAYOUT_PHASE;
    case PE_PARAM_LAYOUT:
    case PE_PARAM_ORDER:
        return !s->compact;
    case PE_PARAM_MAX_POSITION_EMBEDDINGS:
        return s->rope_type != PE_ROPE_TYPE_LONGROPE || !pe__given(s, PE_PARAM_FACTOR);
    case PE_PARAM_MSCALE:
    case PE_PARAM_MSCALE_ALL_DIM:
        return has_mscale(s);
    default:
        return true;
    }
}

bool pe_spec_shows(const struct pe_spec *s, enum pe_param p)
{
    const struct pe_use *use = pe__use(s, p);
    if (!use || !bears(s, p))
        return false;
    /* a width may come from head_dim without being given */
    return use->preset || pe__given(s, p) || p == PE_PARAM_WIDTH;
}

size_t pe_spec_text(const struct pe_spec *s, char *out, size_t size)
{
    struct sink sink = {out, size, 0};
    enum pe_param shown[PE_PARAMS];
    unsigned count = 0;
    for (int p = 0; p < PE_PARAMS; p++) {
        unsigned at = count;
        if (!pe_spec_shows(s, p))
            continue;
        for (; at && strcmp(pe_param_info(shown[at - 1])->name, pe_param_info(p)->name) > 0; at--)
            shown[at] = shown[at - 1];
        shown[at] = (enum pe_param)p;
        count++;
    }
    for (unsigned i = 0; i < count; i++) {
        put(&sink, "&", i > 0);
        put_text(&sink, pe_param_info(shown[i])->name);
        put(&sink, "=", 1);
        put_value(&sink, s, shown[i]);
    }
    return finish(&sink);
}
