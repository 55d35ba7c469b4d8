/* SPDX-License-Identifier: MIT
 *
 * posenc.h: position tables for transformers, correctly rounded.
 *
 * A spec says which table; a plan holds what its rows need; a fill writes rows. Row r depends on
 * the spec and on r only, so any split of the rows, on any number of threads, on any CPU, gives the
 * same bytes. The library does no I/O and keeps no mutable global state.
 *
 * Unless a prototype says otherwise, functions are safe to call from several threads at once on
 * objects that no other thread is changing, and pointers are borrowed for the call.
 */
#ifndef POSENC_H
#define POSENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PE_VERSION "0.1.0"

/* The revision of the numbers: it grows when any byte of any table changes. */
#define PE_NUMERICS_REV 1

/* Positions lie in [-2^53, 2^53), the integers that a binary64 holds exactly. */
#define PE_POSITION_END (INT64_C(1) << 53)

enum pe_error {
#define PE_ERROR(id, prose) PE_##id,
#include "errors.def"
#undef PE_ERROR
};

enum pe_kind {
#define PE_KIND(id, name, layouts, formula) PE_KIND_##id,
#include "kinds.def"
#undef PE_KIND
    PE_KINDS
};

/* What is asked of a kind: the table itself, or one of the small answers beside it. */
enum pe_resource {
    PE_RESOURCE_TABLE,
    PE_RESOURCE_FREQUENCIES, /* inv_freq, wavelength, attention_factor, base, correction_range */
    PE_RESOURCE_SHIFT,       /* M_k with PE(p+k) = M_k PE(p) */
    PE_RESOURCE_SIMILARITY,  /* PE(p).PE(p+k) */
    PE_RESOURCES
};

enum pe_dtype {
#define PE_DTYPE(id, name, alias, size, npy, safetensors) PE_DTYPE_##id,
#include "dtypes.def"
#undef PE_DTYPE
    PE_DTYPES
};

/* One enum for each set of words that a parameter may be; PE_LAYOUT_COUNT and so on count them. */
#define PE_CHOICE_BEGIN(SET) \
    enum pe_choice_##SET     \
    {
#define PE_CHOICE(SET, id, name) PE_##SET##_##id,
#define PE_CHOICE_END(SET) \
    PE_##SET##_COUNT       \
    }                      \
    ;
#include "choices.def"
#undef PE_CHOICE_BEGIN
#undef PE_CHOICE
#undef PE_CHOICE_END

/* Every parameter that can alter a byte of a table. */
enum pe_param {
#define PE_PARAM(id, field, name, type, set, lo, hi, prose) PE_PARAM_##id,
#include "params.def"
#undef PE_PARAM
    PE_PARAMS,
    PE_PARAM_NONE = PE_PARAMS
};

enum pe_type {
    PE_TYPE_INT,
    PE_TYPE_REAL,
    PE_TYPE_BOOL,
    PE_TYPE_CHOICE,
    PE_TYPE_INTS,
    PE_TYPE_REALS
};

struct pe_ints {
    const int64_t *at;
    size_t count;
};

struct pe_reals {
    const double *at;
    size_t count;
};

#define PE_MAX_RANK 8

/* Which table: plain data. `given` has bit PE_PARAM_x set where the caller chose field x; other
 * fields hold defaults after pe_spec_check. Lists are borrowed and must outlive the spec, but a
 * plan keeps a copy of its own. `shape` is the shape of `positions` (rank 1 where it was a plain
 * list). */
struct pe_spec {
    enum pe_kind kind;
    enum pe_resource resource;
    uint64_t given;
#define PE_FIELD_INT int64_t
#define PE_FIELD_REAL double
#define PE_FIELD_BOOL bool
#define PE_FIELD_CHOICE int
#define PE_FIELD_INTS struct pe_ints
#define PE_FIELD_REALS struct pe_reals
#define PE_PARAM(id, field, name, type, set, lo, hi, prose) PE_FIELD_##type field;
#include "params.def"
#undef PE_PARAM
    unsigned rank;
    uint64_t shape[PE_MAX_RANK];
};

/* Why a spec cannot be: the parameter to blame (PE_PARAM_NONE where no single one is), a sentence
 * that names it, and what is allowed ("" where that cannot be said in a few words). */
struct pe_fault {
    enum pe_error error;
    enum pe_param param;
    char text[256];
    char allowed[256];
};

/* One array of an answer. A row is the unit of pe_fill: `row_elements` neighbours along the last
 * axes. */
struct pe_tensor {
    const char *name; /* static */
    enum pe_dtype dtype;
    unsigned rank;
    uint64_t shape[PE_MAX_RANK + 4];
    uint64_t rows;
    uint64_t row_elements;
    uint64_t bytes; /* rows * row_elements * element size; known not to overflow */
};

#define PE_MAX_TENSORS 8

struct pe_plan;

/* A description of a parameter, of a parameter's use, of a choice; static tables behind the names.
 */
struct pe_param_info {
    const char *name;
    enum pe_type type;
    const char *const *choices; /* NULL, or the names of a PE_TYPE_CHOICE, ended by NULL */
    double lo, hi;              /* inclusive limits of a number (of each item of a list) */
    size_t offset;              /* of the field in struct pe_spec */
    const char *prose;
};

struct pe_use {
    enum pe_param param;
    bool required;
    enum pe_param
        unless; /* what is required may be absent where this one is given; or PE_PARAM_NONE */
    const char *preset; /* the default as text, "" where it is derived, NULL where there is none */
};

/* Static tables; never fail for values of the enums. */
const char *pe_error_text(enum pe_error);
const char *pe_kind_name(enum pe_kind);
const char *pe_kind_formula(enum pe_kind);
const char *pe_resource_name(enum pe_resource); /* "" for the table itself */
const char *pe_dtype_name(enum pe_dtype);
size_t pe_dtype_size(enum pe_dtype);
const struct pe_param_info *pe_param_info(enum pe_param);

/* By name: -1 where there is none. `len` bytes, no NUL needed. pe_dtype_find knows the aliases, and
 * pe_choice_find of PE_PARAM_DTYPE gives an enum pe_dtype, one of the four floats. */
int pe_kind_find(const char *name, size_t len);
int pe_resource_find(const char *name, size_t len);
int pe_dtype_find(const char *name, size_t len);
int pe_param_find(const char *name, size_t len);
int pe_choice_find(enum pe_param, const char *name, size_t len);

/* Whether the table of this kind has that resource at all (frequencies of t5 do not exist). */
bool pe_resource_exists(enum pe_kind, enum pe_resource);

/* How (kind, resource, rope_type) uses a parameter, or NULL where the parameter is unknown there.
 * For kinds without rope_type the third argument is ignored. */
const struct pe_use *pe_use(enum pe_kind, enum pe_resource, int rope_type, enum pe_param);

/* Whether choice `value` of a parameter (a layout, say) is allowed for the kind and resource. */
bool pe_choice_allowed(enum pe_kind, enum pe_resource, enum pe_param, int value);

/* What a value of the parameter may be there, in a few words ("an integer from 1 to 65536", "sin,
 * cos"). Writes at most `size` bytes with a NUL and returns the length of the whole text, as
 * snprintf does. */
size_t pe_param_allowed(enum pe_kind, enum pe_resource, enum pe_param, char *out, size_t size);

/* A spec of that kind with every plain default in place and nothing given. */
void pe_spec_init(struct pe_spec *, enum pe_kind, enum pe_resource);

/* Checks a spec: what is unused (blamed first), out of its own range, missing, contradictory, out
 * of range together, too large. Fills in defaults, also those that depend on other fields (width
 * from head_dim, sequence_length from the positions...), and clears what is unused. On error the
 * fault says why; it may be NULL. Errors: MISSING, UNUSED, RANGE, CONFLICT, TOO_LARGE (a size
 * beyond 2^63-1 bytes). */
enum pe_error pe_spec_check(struct pe_spec *, struct pe_fault *fault);

/* The tensors of a checked spec in payload order (by element size downwards, then by name: the
 * order of a safetensors file). Returns how many. */
unsigned pe_spec_tensors(const struct pe_spec *, struct pe_tensor out[PE_MAX_TENSORS]);

/* The canonical text of a checked spec: `name=value` of every parameter that bears on it, sorted by
 * name, joined by '&', defaults filled in; reals are the shortest decimals that read back. It names
 * the table: specs of one kind and resource with the same text are the same table, and a text of
 * rank 1 is a request for it. What has no effect is left out (`odd` of an even width, `mscale`
 * without `mscale_all_dim`), and width stands for head_dim with partial_rotary_factor. Writes at
 * most `size` bytes with a NUL and returns the length of the whole text, as snprintf does. A list
 * of positions whose rank is not 1 ends in
 * ";shape=AxB", which no query can say. */
size_t pe_spec_text(const struct pe_spec *, char *out, size_t size);

/* Whether the parameter stands in the canonical text of a checked spec. */
bool pe_spec_shows(const struct pe_spec *, enum pe_param);

/* The text of one parameter's value, as it stands in pe_spec_text; same convention. */
size_t pe_spec_value(const struct pe_spec *, enum pe_param, char *out, size_t size);

/* A number for the frequencies behind a checked spec, 0 where it has none to share: a table of
 * sines and cosines, a shift or a similarity has some. It is equal for specs whose plans can share
 * them, which may differ in rows, dtype, layout and the like, even in kind; length and positions
 * count as far as the frequencies follow them (dynamic, longrope). Others differ by all odds; not
 * surely, but pe_plan_create_like looks for itself. The numbers of two versions of the library have
 * nothing to do with each other. */
uint64_t pe_spec_ladder(const struct pe_spec *);

/* Makes what rows need: exact frequencies (MPFR), rotation tables. May take milliseconds (some 20
 * microseconds for 64 frequencies). The plan
 * is immutable, shared by threads, and freed by pe_plan_destroy, which takes the address and nulls
 * it. Errors: NO_MEMORY; INVALID for a spec that pe_spec_check has not accepted. */
enum pe_error pe_plan_create(const struct pe_spec *, struct pe_plan **);

/* The same plan, which fills the same bytes, sooner: it takes over from `like` what both need. That
 * is nothing where they do not have the same frequencies, or `like` is NULL. `like` is borrowed for
 * the call, other threads may use it meanwhile, and either plan may be destroyed before the other.
 * Errors as pe_plan_create, and they do not depend on `like`. */
enum pe_error pe_plan_create_like(const struct pe_spec *, const struct pe_plan *like,
                                  struct pe_plan **);
void pe_plan_destroy(struct pe_plan **);

/* Memory that the plan holds. What it shares counts in full in each of its plans: the number never
 * changes, and memory is never more than the sum over plans. */
size_t pe_plan_bytes(const struct pe_plan *);

/* Writes rows first_row .. first_row+rows-1 of each tensor t with out[t] not NULL, little-endian, C
 * order. `out` has as many entries as pe_spec_tensors returns, and the tensors asked for together
 * have equal row counts. Pure and reentrant, no allocation. Errors: INVALID for rows outside a
 * tensor. */
enum pe_error pe_fill(const struct pe_plan *, uint64_t first_row, uint64_t rows, void *const out[]);

/* A greatest error and where it is: |value - exact|, of element `element` of row `row`. */
struct pe_worst {
    double error;
    uint64_t row;
    uint64_t element;
};

/* What pe_precision_study found out about a tensor. Values that overflowed to infinity count as
 * `infinite` and have no error. The ulp is that of the dtype at the exact value. */
struct pe_precision {
    const char *tensor; /* static */
    enum pe_dtype dtype;
    uint64_t rows;
    uint64_t examined; /* rows: all of them, or spread evenly from the first to the last */
    uint64_t infinite;
    struct pe_worst absolute;
    struct pe_worst ulp;
};

/* Compares the values that pe_fill writes for a checked spec of a table with the exact real
 * numbers, tensor by tensor. Work is bounded by about `budget` values (a million take some tens of
 * milliseconds; values of binary64 cost more, so fewer are taken), but at least two rows of each
 * tensor are examined. Errors: INVALID for integer tables and for other resources; NO_MEMORY. */
enum pe_error pe_precision_study(const struct pe_spec *, uint64_t budget,
                                 struct pe_precision out[PE_MAX_TENSORS], unsigned *count);

/* Values of one floating dtype as another, each rounded once, to nearest even; what is too large
 * becomes an infinity, zeros keep their sign, NaN stays NaN. Little-endian at any alignment; `in`
 * and `out` do not overlap. `to` may be BF16_AS_F32. Errors: INVALID for an integer dtype, and then
 * nothing is written. */
enum pe_error pe_convert(enum pe_dtype from, const void *in, enum pe_dtype to, void *out,
                         uint64_t count);

/* The integer positions behind a row of a table: one, or one for each axis. Returns how many: 0
 * where rows have none. */
unsigned pe_row_positions(const struct pe_spec *, uint64_t row, int64_t out[3]);

/* An element of any dtype as a double: exact for floats, nearest for integers beyond 2^53. */
double pe_value(const void *element, enum pe_dtype);

/* The instruction set whose kernels run here: "portable", "avx2", "avx512". Chosen once, at the
 * first call; POSENC_ISA in the environment forces a lower one. */
const char *pe_instruction_set(void);

#ifdef __cplusplus
}
#endif

#endif
