/* SPDX-License-Identifier: MIT
 *
 * resolve_value.h: what a fact says, and refusals of what it cannot say.
 *
 * A refusal is remembered in the config and not returned: readers then say that nothing is there,
 * and who began the work looks at config->refused at its end. The first refusal stays.
 */
#ifndef API_RESOLVE_VALUE_H
#define API_RESOLVE_VALUE_H

#include "resolve_config.h"

/* Refuses: because of a fact (may be NULL), or because a meaning is absent. `because` ends the
 * sentence. */
__attribute__((format(printf, 4, 5))) void api__refuse_fact(struct api__config *,
                                                            const struct api__fact *,
                                                            enum api__problem_id,
                                                            const char *format, ...);
void api__refuse_absent(struct api__config *, enum api__meaning, const char *because);

/* The value of a fact, where there is one (NULL is allowed) and it is of the right type and range:
 * integers without a point, or with nothing behind it; numbers are never text. Else false, and
 * refused unless the fact is NULL. Limits are inclusive; lists lie in the arena. */
bool api__fact_integer(struct api__config *, const struct api__fact *, int64_t lo, int64_t hi,
                       int64_t *out);
bool api__fact_real(struct api__config *, const struct api__fact *, double lo, double hi,
                    double *out);
bool api__fact_bool(struct api__config *, const struct api__fact *, bool *out);
bool api__fact_text(struct api__config *, const struct api__fact *, const char **out);
bool api__fact_integers(struct api__config *, const struct api__fact *, int64_t lo, int64_t hi,
                        struct pe_ints *out);
bool api__fact_reals(struct api__config *, const struct api__fact *, double lo, double hi,
                     struct pe_reals *out);
bool api__fact_texts(struct api__config *, const struct api__fact *, const char *const **out,
                     size_t *count);

/* The number of a fact, for comparing; false where it is none. */
bool api__fact_number(const struct api__fact *, double *out);

#endif
