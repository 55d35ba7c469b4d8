/* SPDX-License-Identifier: MIT
 *
 * posenc_layout.h: layouts of position ids. Lengths, masks or segment numbers in; ids and the
 * boundaries that belong to them out.
 *
 * A request says which; a layout is its one internal form, rows of segments, of a size in
 * proportion to the request; a fill writes any window of any array that is a projection of it. So
 * arrays of one layout cannot disagree, and an array of 10^8 ids takes no more memory than the
 * lengths behind it. The library does no I/O and keeps no mutable global state.
 *
 * Unless a prototype says otherwise, functions are safe to call from several threads at once on
 * objects that no other thread is changing, and pointers are borrowed for the call.
 */
#ifndef POSENC_LAYOUT_H
#define POSENC_LAYOUT_H

#include "posenc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ids, sums and slots lie within +-2^53, the integers that a binary64 holds exactly. */
#define PE_SLOT_END (INT64_C(1) << 53)

/* What is asked for. The order is that of the table of conventions. */
enum pe_endpoint {
    PE_CACHED,
    PE_CHECK,
    PE_CONVERT,
    PE_MULTIMODAL,
    PE_PACKED,
    PE_PADDED,
    PE_PLAN,
    PE_SHARDED,
    PE_ENDPOINTS
};

/* One enum for the words of each option; PE_..._WORDS counts them. */
#define PE_WORDS_BEGIN(SET) \
    enum pe_word_##SET      \
    {
#define PE_WORD(SET, id, name) PE_##SET##_##id,
#define PE_WORDS_END(SET) \
    PE_##SET##_WORDS      \
    }                     \
    ;
#include "layout_words.def"
#undef PE_WORDS_BEGIN
#undef PE_WORD
#undef PE_WORDS_END

enum pe_option {
#define PE_OPTION(id, field, type, set, lo, hi, endpoints, preset, prose) PE_OPTION_##id,
#include "layout_options.def"
#undef PE_OPTION
    PE_OPTIONS,
    PE_OPTION_NONE = PE_OPTIONS
};

enum pe_out {
#define PE_TENSOR(id, name, class, offered, presented) PE_OUT_##id,
#include "layout_tensors.def"
#undef PE_TENSOR
    PE_OUTS
};

enum pe_option_type {
    PE_IS_ARRAY,
    PE_IS_SEGMENTS,
    PE_IS_REALS,
    PE_IS_INT,
    PE_IS_REAL,
    PE_IS_BOOL,
    PE_IS_WORD,
    PE_IS_NUMBER_OR_WORD,
    PE_IS_PAIR,
    PE_IS_TENSORS,
    PE_IS_NAME
};

/* A NUMBER_OR_WORD holds a number within +-2^53, or PE_A_WORD + the word. */
#define PE_A_WORD (INT64_C(1) << 62)

/* An array of integers as it came: little-endian, C order, any alignment. Rank 0 is a number. A
 * list of rows that need not be equally long has rank 2 and `row_ends`: row r ends before element
 * row_ends[r]; `row_ends` NULL means rows of shape[1]. `count` is the number of elements. */
struct pe_array {
    const void *at;
    unsigned size; /* 1, 2, 4, 8 bytes */
    bool is_unsigned;
    unsigned rank; /* 0 .. 3 */
    uint64_t shape[3];
    uint64_t count;
    const uint64_t *row_ends;
};

/* A segment as a client declares it; `position` counts only where `has_position`. */
struct pe_declared {
    int64_t length;
    int64_t pads;
    int64_t position;
    int reason; /* enum pe_word_REASON: DOCUMENT .. BRANCH */
    bool has_position;
};

/* Rows of declared segments: row r ends before at[row_ends[r]]. */
struct pe_declared_rows {
    const struct pe_declared *at;
    const uint64_t *row_ends;
    uint64_t rows;
};

struct pe_pair {
    int64_t first;
    int64_t end;
};

/* What is asked for: plain data. given[x] says that the caller, or a convention, chose option x;
 * fields of other options hold their presets after pe_layout_request_init. `outputs` has bit
 * PE_OUT_x for each tensor; 0 stands for those presented. `convention`, `from` and `to` are rows of
 * pe_convention. `most_pieces` bounds how many pieces documents may be cut into and rows they may
 * open. Arrays are borrowed: for the call that makes a layout or a check, and those of
 * pe_option_lasts for its life. */
struct pe_layout_request {
    enum pe_endpoint endpoint;
    uint64_t most_pieces;
    bool given[PE_OPTIONS];
#define PE_HOLDS_ARRAY struct pe_array
#define PE_HOLDS_SEGMENTS struct pe_declared_rows
#define PE_HOLDS_REALS struct pe_reals
#define PE_HOLDS_INT int64_t
#define PE_HOLDS_REAL double
#define PE_HOLDS_BOOL bool
#define PE_HOLDS_WORD int
#define PE_HOLDS_NUMBER_OR_WORD int64_t
#define PE_HOLDS_PAIR struct pe_pair
#define PE_HOLDS_TENSORS uint64_t
#define PE_HOLDS_NAME int
#define PE_OPTION(id, field, type, set, lo, hi, endpoints, preset, prose) PE_HOLDS_##type field;
#include "layout_options.def"
#undef PE_OPTION
};

/* Why a request cannot be: the option to blame, where inside it (`rank` indexes), the rule of check
 * that it breaks (NULL where none), and a sentence. */
struct pe_layout_fault {
    enum pe_error error;
    enum pe_option option;
    unsigned rank;
    uint64_t index[3];
    const char *rule;
    char text[256];
};

struct pe_option_info {
    const char *name;
    enum pe_option_type type;
    const char *const *words; /* NULL, or the words, ended by NULL */
    int64_t lo, hi;
    unsigned endpoints; /* bit 1 << PE_x for each that knows it */
    size_t offset;      /* of the field in struct pe_layout_request */
    const char *preset; /* "" where there is none */
    const char *prose;
};

/* Something legal but risky. Texts are static. */
struct pe_layout_warning {
    const char *rule;
    const char *detail;
};

#define PE_MAX_WARNINGS 4

/* A named framework: values of options. `settings` are `count` pairs; a TENSORS value has bits. */
struct pe_setting {
    enum pe_option option;
    int64_t value;
};

struct pe_convention {
    enum pe_endpoint endpoint;
    const char *name;
    const struct pe_setting *settings;
    unsigned count;
};

struct pe_layout;

/* Static tables and look-ups by name (-1 where there is none; `len` bytes, no NUL needed). */
const char *pe_endpoint_name(enum pe_endpoint);
int pe_endpoint_find(const char *name, size_t len);
const struct pe_option_info *pe_option_info(enum pe_option);
int pe_option_find(const char *name, size_t len);

/* Whether a layout goes on reading this array after it is made; other arrays may go then. */
bool pe_option_lasts(enum pe_option);
const char *pe_out_name(enum pe_out);
int pe_out_find(const char *name, size_t len);
uint64_t pe_outs_offered(enum pe_endpoint);
uint64_t pe_outs_presented(enum pe_endpoint);
const char *pe_reason_name(int reason);

/* Conventions are numbered from 0, sorted by endpoint, then by name. NULL beyond the last. */
const struct pe_convention *pe_convention(unsigned row);
int pe_convention_find(enum pe_endpoint, const char *name, size_t len);

/* A request with every preset in place and nothing given. */
void pe_layout_request_init(struct pe_layout_request *, enum pe_endpoint);

/* Takes the options of a convention that are not given yet, and marks them as given. For `to` of
 * convert, those that convert does not know are left out. */
void pe_layout_request_prefer(struct pe_layout_request *, unsigned convention);

/* Whether an option that is not given bears on a request that was completed: the number of a row's
 * documents does where documents are planned, and stripes where they are dealt out. */
bool pe_option_bears(const struct pe_layout_request *, enum pe_option);

/* Makes the form. The request is copied, arrays are borrowed. Not for PE_CHECK: that is
 * pe_check_create. Errors, each with a fault that says where: MISSING, UNUSED, RANGE, CONFLICT (all
 * the client's); TOO_LARGE (more than most_pieces); NO_MEMORY. `fault` may be NULL. */
enum pe_error pe_layout_create(const struct pe_layout_request *, struct pe_layout **,
                               struct pe_layout_fault *fault);
void pe_layout_destroy(struct pe_layout **);

/* The chosen tensors in payload order (by element size downwards, then by name), each of
 * row_elements 1, so that a row is an element. Returns how many; `out` has room for PE_OUTS. `ids`
 * says which each is; may be NULL. A size beyond 2^63-1 bytes is given as UINT64_MAX rows and
 * bytes. */
unsigned pe_layout_tensors(const struct pe_layout *, struct pe_tensor *out, enum pe_out *ids);

/* Writes elements first .. first+count-1 of a tensor, little-endian, in its dtype. Pure and
 * reentrant, no allocation; costs O(count + log of the layout). The window lies inside the tensor.
 */
void pe_layout_fill(const struct pe_layout *, enum pe_out, uint64_t first, uint64_t count,
                    void *out);

/* The tensor position_ids, whether it was chosen or not. Not for PE_MULTIMODAL, PE_PLAN. */
void pe_layout_positions_tensor(const struct pe_layout *, struct pe_tensor *);

/* The ids of position_ids as they are, whatever index_dtype says; and their smallest and largest
 * (false where there is none). What rows=KIND reads. */
void pe_layout_positions(const struct pe_layout *, uint64_t first, uint64_t count, int64_t *out);
bool pe_layout_extent(const struct pe_layout *, int64_t *least, int64_t *most);

/* The request as it was completed by conventions, `from` and `to`. */
const struct pe_layout_request *pe_layout_request_of(const struct pe_layout *);
unsigned pe_layout_warnings(const struct pe_layout *,
                            struct pe_layout_warning out[PE_MAX_WARNINGS]);
size_t pe_layout_bytes(const struct pe_layout *);

/* ---------------------------------------------------------------- do these arrays agree? */

/* One inconsistency. `index` has the rank of the array that was sent; `found` and `expected` count
 * where said. Texts are static, `detail` apart. */
struct pe_finding {
    const char *rule;
    enum pe_option tensor;
    unsigned rank;
    uint64_t index[2];
    bool has_found, has_expected;
    int64_t found, expected;
    char detail[160];
};

#define PE_MAX_FINDINGS 1000

/* A bug of peers whose mark the arrays bear. Static texts. */
struct pe_known_fault {
    const char *name;
    const char *seen_in;
};

#define PE_MAX_KNOWN_FAULTS 11

/* How one kind of reader sees the ids. */
enum pe_reading { PE_ZERO_OPENS, PE_MINIMUM_OPENS, PE_STEP_OPENS, PE_READINGS };

struct pe_check;

/* Checks. Errors as pe_layout_create, for arrays that cannot be read at all. position_ids must
 * outlive the check where pe_check_starts is called. */
enum pe_error pe_check_create(const struct pe_layout_request *, struct pe_check **,
                              struct pe_layout_fault *);
void pe_check_destroy(struct pe_check **);

/* Errors (warnings false) or warnings: the first PE_MAX_FINDINGS; *total counts all. */
const struct pe_finding *pe_check_findings(const struct pe_check *, bool warnings, unsigned *listed,
                                           uint64_t *total);

/* Known bugs; the conventions (rows) whose ids for these documents are exactly those sent, sorted
 * by name. Both return how many. */
unsigned pe_check_known_faults(const struct pe_check *,
                               struct pe_known_fault out[PE_MAX_KNOWN_FAULTS]);
unsigned pe_check_conventions(const struct pe_check *, unsigned *out, unsigned room);

/* Where a reader of the ids alone sees documents begin. `count` is how many; -1 in *agrees where
 * the boundaries are not known, else 0 or 1; false where there are no ids. pe_check_starts walks
 * them: *at begins as 0; up to `room` flat slots into `out`; returns how many, 0 at the end. The
 * last is the number of slots, which begins nothing. */
const char *pe_reading_name(enum pe_reading);
bool pe_check_reading(const struct pe_check *, enum pe_reading, uint64_t *count, int *agrees);
size_t pe_check_starts(const struct pe_check *, enum pe_reading, uint64_t *at, int64_t *out,
                       size_t room);

#ifdef __cplusplus
}
#endif

#endif
