/* SPDX-License-Identifier: MIT
 *
 * api.h: text in, plan out.
 *
 * api_plan turns a request into a description of its answer, whatever the request is: an error is a plan
 * too. Nothing here does I/O, reads a clock, caches or calls up: the server carries the plan out. A table
 * is never made here; a plan for one says which bytes of which payload go out, and in which format.
 *
 * The payload of a spec is the bytes of its tensors one after the other, in the order of
 * pe_spec_tensors. Every binary format is `prefix` and then a window of the payload. Every text format
 * is written row by row by an api_writer. So one cached payload serves all formats of its table.
 *
 * All functions are thread-safe: the only state is in their arguments.
 */
#ifndef POSENC_API_H
#define POSENC_API_H

#include "posenc.h"

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
    API_EMPTY, /* no body: 204, 304 */
    API_TEXT,  /* plan->text */
    API_TABLE, /* plan->table */
    API_PAGE   /* the server knows: plan->page */
};

enum api_page { API_PAGE_LIVE, API_PAGE_READY, API_PAGE_METRICS };

/* Formats of tables. Each is a const struct of its own file; see format.h. */
struct api_format;
const char *api_format_name(const struct api_format *);
bool api_format_is_text(const struct api_format *);

/* The body of a table. Binary: `prefix`, then payload bytes [payload_first, payload_first+payload_length);
 * `length` is their sum. Text: written by an api_writer, `length` API_UNKNOWN. `first` and `count` are the
 * part that is to be sent of it (a range, or the whole): bytes of the body. */
struct api_table {
    struct pe_spec spec; /* checked; its lists live as long as the plan */
    const struct api_format *format;
    struct pe_tensor tensors[PE_MAX_TENSORS];
    unsigned tensor_count;
    int tensor;     /* the only one sent, or -1 for all */
    bool stacked;   /* several tensors of one shape under a new first axis */
    struct api_bytes prefix;
    uint64_t payload_first;
    uint64_t payload_length;
    uint64_t length;
    uint64_t first;
    uint64_t count;
    struct api_bytes key; /* names the payload: equal keys, equal bytes; 32 bytes of SHA-256 */
    const char *parameters; /* the canonical parameters as a JSON object */
};

struct api_answer_header {
    const char *name; /* static */
    const char *value; /* lives as long as the plan */
};

#define API_MAX_HEADERS 24

/* The answer. Headers hold everything but Content-Length, Date, Connection, X-Request-Id, Cache-Status
 * and Server-Timing, which are the server's. `route` is a word from a closed set, for metrics. */
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
    bool no_memo; /* the answer depends on more than method, target and negotiation headers */
    void *arena; /* owns all of the above */
};

/* Before the body of a request is read: NULL where it is wanted, else the plan of the refusal (405 for a
 * method that the path does not have, 415, 413 with the limit...). `declared` is Content-Length. */
struct api_plan *api_refuse_body(const struct api_request *, uint64_t declared);

/* The answer to a request. NULL only where there is no memory for one. Freed by api_plan_free, which
 * takes the address and nulls it. */
struct api_plan *api_plan(const struct api_request *);
void api_plan_free(struct api_plan **);

/* A problem document (RFC 9457) from outside of routing: 400 for a malformed head, 408, 413, 431, 503...
 * `name` is the last part of its type: one of problems.def. */
struct api_plan *api_problem(const struct api_request *, int status, const char *name, const char *detail);

/* Writes a table in a text format. Usage: open; then for each tensor that is sent (table->tensor, or all
 * in payload order) its rows from 0, in any portions; then tail. Output is appended at `out`, which must
 * have room: api_writer_head_size(table) for the head, api_writer_room(table, tensor, rows) for rows (it
 * covers the tail as well). The writer is a value without allocations. */
struct api_writer {
    const struct api_table *table;
    uint64_t row;
    unsigned tensor;
    uint64_t column; /* .txt: width of a cell */
};
size_t api_writer_head_size(const struct api_table *);
size_t api_writer_room(const struct api_table *, unsigned tensor, uint64_t rows);
size_t api_writer_open(struct api_writer *, const struct api_table *, char *out);
size_t api_writer_rows(struct api_writer *, unsigned tensor, const void *rows, uint64_t count, char *out);
size_t api_writer_tail(struct api_writer *, char *out);

#endif
