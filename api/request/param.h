/* SPDX-License-Identifier: MIT
 *
 * param.h: the parameters of a request as they were spelled, from the query and from a JSON body,
 * and strict readers of single values. A value from a query is text, one from a body a checked
 * slice of JSON; the readers take either, and text never stands for a number of JSON. Which names
 * there are is not known here.
 */
#ifndef API_PARAM_H
#define API_PARAM_H

#include "call.h"

/* More parameters than any path knows: whoever gives more has repeated one or invented one, and
 * that shows among the first of them. */
#define API__MAX_PARAMS 96

struct api__param {
    struct api_bytes name;
    struct api_bytes value;
    bool json;
};

struct api__params {
    struct api__param items[API__MAX_PARAMS];
    size_t count;
};

/* Reads call->query; then the members of a JSON object. Both append; `params->count` begins as 0.
 */
bool api__read_query(struct api__call *, struct api__params *);
bool api__read_json(struct api__call *, struct api_bytes body, struct api__params *);

/* NULL where none has the name. */
const struct api__param *api__find_param(const struct api__params *, const char *name);

/* Refuses a parameter that is not among `names` (did_you_mean names the nearest), or is repeated.
 */
bool api__check_names(struct api__call *, const struct api__params *, const char *const *names,
                      size_t count);
bool api__check_repeats(struct api__call *, const struct api__params *);
bool api__unknown_param(struct api__call *, const struct api__param *, const char *why,
                        const char *const *names, size_t count);

/* Blames a parameter for its value. Always false. */
__attribute__((format(printf, 4, 5))) bool api__bad_value(struct api__call *, enum api__problem_id,
                                                          const struct api__param *,
                                                          const char *format, ...);

/* Readers. Limits are inclusive. */
bool api__read_integer(struct api__call *, const struct api__param *, int64_t lo, int64_t hi,
                       int64_t *out);
bool api__read_real(struct api__call *, const struct api__param *, double lo, double hi,
                    double *out);
bool api__read_bool(struct api__call *, const struct api__param *, bool *out);
bool api__read_word(struct api__call *, const struct api__param *, struct api_bytes *out);

/* One of `count` words; *out is its index. */
bool api__read_choice(struct api__call *, const struct api__param *, const char *const *words,
                      size_t count, int *out);

/* What a real may be, in words: "a real number greater than 1". */
const char *api__real_range(struct api__arena *, double lo, double hi);

#endif
