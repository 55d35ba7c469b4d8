/* SPDX-License-Identifier: MIT
 *
 * api.h: text in, plan out.
 *
 * api_plan turns a request into a description of its answer, whatever the request is: an error is a
 * plan too. Nothing here does I/O, reads a clock, caches or calls up: the server carries the plan
 * out. A table is never made here; a plan for one says which bytes of which payload go out, and in
 * which format.
 *
 * The payload of a spec is the bytes of its tensors one after the other, in the order of
 * pe_spec_tensors. Every binary format is `prefix` and then a window of the payload. Every text
 * format is written row by row by an api_writer. So one cached payload serves all formats of its
 * table.
 *
 * All functions are thread-safe: the only state is in their arguments.
 */
#ifndef POSENC_API_H
#define POSENC_API_H

#include "posenc.h"
#include "posenc_layout.h"

#define API_UNKNOWN UINT64_MAX

/* Bytes borrowed from somebody else. */
struct api_bytes {
    const char *at;
    size_t len;
};

struct api_header {
    const char *name; /* as spelled by the client; compared without case */
    struct api_bytes value;
};

/* What the configuration says that answers depend on. */
struct api_limits {
    uint64_t max_json_values;
    uint64_t max_layout_entries; /* of the lists of a request */
    uint64_t max_layout_values;  /* of all tensors of an answer */
    uint64_t max_body;
    uint64_t cache_size;
    uint64_t max_connections;
    uint64_t max_connections_per_ip;
};

/* A request. `target` is the raw target of the request line, undecoded. `body` is whole. */
struct api_request {
    const char *method;
    struct api_bytes target;
    const struct api_header *headers;
    size_t header_count;
    struct api_bytes body;
    const char *request_id; /* already validated or made: visible ASCII */
    const struct api_limits *limits;
};

/* Where the bytes of an answer come from. */
enum api_source {
    API_EMPTY,  /* no body: 204, or 304, whose length is that of plan->table or else plan->text */
    API_TEXT,   /* plan->text */
    API_TABLE,  /* plan->table */
    API_PAGE,   /* the server knows: plan->page */
    API_LEARNED /* the server looks into its store: plan->learned, then api_learned_plan */
};

enum api_page { API_PAGE_LIVE, API_PAGE_READY, API_PAGE_METRICS };

/* Formats of tables. Each is a const struct of its own file; see format.h. "Text" is what an
 * api_writer makes: JSON, CSV, plain text, and .npz, whose checksums want the data and whose length
 * is known all the same. */
struct api_format;
const char *api_format_name(const struct api_format *);
bool api_format_is_text(const struct api_format *);

/* How .npy and .npz carry bf16: as '|V2', as '<u2', or in tensors of PE_DTYPE_BF16_AS_F32. */
enum api_bf16 { API_BF16_VOID, API_BF16_U16, API_BF16_F32 };

/* Content codings. A coded body is the plain one, coded by the server as it goes out; it has no
 * ranges, and the lengths of a table are those of the plain one. */
enum api_coding { API_IDENTITY, API_GZIP, API_ZSTD };

struct api_pair {
    const char *name;
    const char *value;
};

#define API_MAX_TENSORS 64

/* What fills the tensors of a table that is made of a layout. */
struct api_layout;

/* The body of a table. Binary: `prefix`, then payload bytes [payload_first,
 * payload_first+payload_length); `length` is their sum. Text: written by an api_writer, `length`
 * API_UNKNOWN but for .npz. `first` and `count` are the part that is to be sent of it (a range, or
 * the whole): bytes of the body. */
struct api_table {
    struct pe_spec spec;             /* checked; its lists live as long as the plan */
    const struct api_layout *layout; /* NULL: all tensors are those of the spec */
    const struct api_format *format;
    struct pe_tensor *tensors; /* in the arena of the plan; at most API_MAX_TENSORS */
    unsigned tensor_count;
    int tensor;   /* the only one sent, or -1 for all */
    bool stacked; /* several tensors of one shape under a new first axis */
    struct api_bytes prefix;
    uint64_t payload_first;
    uint64_t payload_length;
    uint64_t length;
    uint64_t first;
    uint64_t count;
    struct api_bytes key; /* names the payload: equal keys, equal bytes; 32 bytes of SHA-256 */
    const char *kind;     /* as bodies name it */
    const char
        *parameters; /* the canonical parameters as a JSON object; NULL unless the format is JSON */
    const char *members; /* further members of a JSON body, such as "warnings":[]; NULL for none */
    const struct api_pair
        *metadata; /* the canonical parameters as text, for .safetensors alone; in any order */
    unsigned metadata_count;
    enum api_bf16 bf16; /* for bf16 in .npy and .npz */
    enum api_coding coding;
};

/* Whether a tensor is in the body. */
static inline bool api_sends(const struct api_table *table, unsigned tensor)
{
    return table->tensor < 0 || (unsigned)table->tensor == tensor;
}

/* Whether rows of the spec, or of a stored table, stand among the arrays of a layout (rows=KIND):
 * then a plan of table->spec, or the store, is needed to fill it. */
bool api_layout_has_rows(const struct api_layout *);

/* Fills rows first .. first+rows-1 of one tensor, as pe_fill does. `plan` is of table->spec; NULL
 * where a layout has no rows of it. False on an error of the library. Reentrant. */
bool api_table_fill(const struct api_table *, const struct pe_plan *plan, unsigned tensor,
                    uint64_t first, uint64_t rows, void *out);

/* Whether a tensor of a layout is rows of the spec; and the ids of which they are the rows. */
bool api_layout_is_rows(const struct api_layout *, unsigned tensor);
void api_layout_positions(const struct api_layout *, uint64_t first, uint64_t rows, int64_t *out);

/* What a token may grant, and what a request needs. */
enum api_scope { API_SCOPE_NONE, API_SCOPE_READ, API_SCOPE_WRITE, API_SCOPE_ADMIN, API_SCOPES };

/* What a request wants of the store of learned tables, as far as its text says. */
enum api_learned_act {
    API_LEARNED_LIST,
    API_LEARNED_DESCRIBE,
    API_LEARNED_PUT,
    API_LEARNED_DELETE,
    API_LEARNED_ROWS
};

/* What the type of an upload says that it is. Of ANY the first bytes decide. */
enum api_learned_form { API_LEARNED_ANY, API_LEARNED_NPY, API_LEARNED_SAFETENSORS };

#define API_LEARNED_NAME 128  /* longest name */
#define API_LEARNED_DIGITS 64 /* of a digest: SHA-256 of a file, in lower case */

/* Texts end in NUL and live as long as the plan. Conditions are lines of entity tags joined by
 * commas; a NULL `at` where there is none. */
struct api_learned {
    enum api_learned_act act;
    const char *name;   /* "" of a list */
    const char *digest; /* the table is wanted only with this one; NULL: with any */
    const char *after;  /* of a list: names behind this one; "" for all */
    unsigned limit;     /* of a list: names at most */
    enum api_learned_form form;
    struct api_bytes if_match;
    struct api_bytes if_none_match;
};

/* What the store found or did. */
enum api_learned_outcome {
    API_LEARNED_FOUND,
    API_LEARNED_ABSENT,
    API_LEARNED_MADE,    /* a name is new */
    API_LEARNED_CHANGED, /* a name has other bytes now */
    API_LEARNED_SAME,    /* it had these bytes before */
    API_LEARNED_REMOVED,
    API_LEARNED_TAKEN,    /* refused: the name has other bytes */
    API_LEARNED_FAILED,   /* refused: a precondition */
    API_LEARNED_BAD_FILE, /* refused: `fault` says why */
    API_LEARNED_NO_ROOM,
    API_LEARNED_DAMAGED, /* the bytes on disk are not those that were stored */
    API_LEARNED_BROKEN,  /* the disk failed */
    API_LEARNED_NO_STORE /* the server keeps none */
};

/* A table of the store: the file as it was sent, its one array and where that stands. */
struct api_learned_file {
    enum pe_dtype dtype; /* F64, F32, F16 or BF16 */
    uint64_t rows, width;
    uint64_t data; /* first byte of the array, which ends with the file */
};

struct api_learned_table {
    const char *name;
    const char *digest;
    struct api_learned_file file;
    double largest; /* greatest magnitude of a value; of FOUND for ROWS alone */
};

struct api_learned_facts {
    enum api_learned_outcome outcome;
    const struct api_learned_table *tables; /* one, or a page of a list, in the order of names */
    size_t count;
    bool more; /* a list goes on behind them */
    const char *fault;
};

struct api_answer_header {
    const char *name;  /* static */
    const char *value; /* lives as long as the plan */
};

#define API_MAX_HEADERS 24

/* The answer. Headers hold everything but Content-Length, Date, Connection, X-Request-Id,
 * Cache-Status and Server-Timing, which are the server's. `route` is a word from a closed set, for
 * metrics. */
struct api_plan {
    int status;
    bool head_only; /* HEAD: headers as for GET, no body made */
    const char *route;
    struct api_answer_header headers[API_MAX_HEADERS];
    unsigned header_count;
    enum api_source source;
    struct api_bytes text;
    enum api_page page;
    struct api_table *table;
    struct api_learned *learned;
    bool no_memo; /* the answer depends on more than method, target and negotiation headers */
    void *arena;  /* owns all of the above */
};

/* Before the body of a request is read: NULL where it is wanted, else the plan of the refusal (405
 * for a method that the path does not have, 415, 413 with the limit...). `declared` is
 * Content-Length. */
struct api_plan *api_refuse_body(const struct api_request *, uint64_t declared);

/* The answer to a request. NULL only where there is no memory for one. Freed by api_plan_free,
 * which takes the address and nulls it. */
struct api_plan *api_plan(const struct api_request *);
void api_plan_free(struct api_plan **);

/* A problem document (RFC 9457) from outside of routing: 400 for a malformed head, 408, 413, 431,
 * 503... `name` is the last part of its type: one of problems.def. */
struct api_plan *api_problem(const struct api_request *, int status, const char *name,
                             const char *detail);

/* The scope that a request needs to be carried out at all; any route may be asked about. */
enum api_scope api_scope(const char *method, struct api_bytes target);

/* The answer to a request whose plan was API_LEARNED, once the store has been asked. The request is
 * the same; the body of an upload need not be there any more, its length alone is looked at. A plan
 * for ROWS is one of source API_TABLE whose payload is made by the server: row r of its tensor is
 * row `offset` + r of the table, or row `positions`[r], those of table->spec. */
struct api_plan *api_learned_plan(const struct api_request *, const struct api_learned_facts *);

/* Whether a PUT or DELETE may be done where the name has the digest `now` (NULL: it does not exist)
 * and is to have `then`: MADE, CHANGED, SAME, REMOVED, or TAKEN, FAILED, ABSENT. Pure: the store
 * asks under its lock. */
enum api_learned_outcome api_learned_judge(const struct api_learned *, const char *now,
                                           const char *then);

/* Reads the header of an upload of `size` bytes from its first bytes: all of it, or
 * API_LEARNED_HEAD of them. NULL where it is a file that can be kept, and *out is set; else a
 * static text that says why not. Accepts .npy 1.0 to 3.0 (little-endian floats, C order) and
 * .safetensors; exactly one array of two axes, neither empty, at most 65536 columns, and not a byte
 * more. Values are not looked at. */
#define API_LEARNED_HEAD (64 << 10)
const char *api_learned_read(enum api_learned_form, struct api_bytes head, uint64_t size,
                             struct api_learned_file *out);

/* Looks at values, at any alignment: false where one is not finite. *largest grows to the greatest
 * magnitude seen; it begins as 0. */
bool api_learned_scan(enum pe_dtype, const void *values, uint64_t count, double *largest);

/* Writes a table in a text format. Usage: open; then for each tensor that is sent (table->tensor,
 * or all in payload order) its rows from 0, in any portions (none for a tensor of 0 bytes); then
 * tail. Rows are those of the tensor, aligned for its elements. Output is appended at `out`, which
 * must have room: api_writer_head_size(table) for the head, api_writer_room(table, tensor, rows)
 * for rows (it covers the tail as well; for the tail alone rows is 0); SIZE_MAX where a size cannot
 * be counted. The writer is a value without allocations; its fields but `table` are its own. */
struct api_writer {
    const struct api_table *table;
    unsigned tensor; /* under way, or the next one that is sent */
    bool begun;      /* it is under way */
    uint64_t left;   /* elements of it to come */
    uint64_t index[PE_MAX_RANK + 4];
    unsigned rolled;               /* axes that began anew with the current line */
    uint32_t crc[API_MAX_TENSORS]; /* .npz: checksums of members */
};
size_t api_writer_head_size(const struct api_table *);
size_t api_writer_room(const struct api_table *, unsigned tensor, uint64_t rows);
size_t api_writer_open(struct api_writer *, const struct api_table *, char *out);
size_t api_writer_rows(struct api_writer *, unsigned tensor, const void *rows, uint64_t count,
                       char *out);
size_t api_writer_tail(struct api_writer *, char *out);

/* Parts may be written apart, by copies of a writer: one goes past `count` rows as if it had
 * written them, which a copy from before then writes. Only where api_writer_splits says so. */
bool api_writer_splits(const struct api_table *);
void api_writer_skip(struct api_writer *, unsigned tensor, uint64_t count);

#endif
