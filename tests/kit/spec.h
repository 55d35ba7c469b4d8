/* SPDX-License-Identifier: MIT
 *
 * spec.h: specs from one line of text, for tests and measurements:
 * "rope?width=8&positions=0,7&dtype=f64", "rope/frequencies?width=8",
 * "rope?width=8&positions=1,2,3,4;shape=2x2".
 */
#ifndef KIT_SPEC_H
#define KIT_SPEC_H

#include "posenc.h"

struct kit_spec {
    struct pe_spec spec;
    void *lists[4];
    unsigned list_count;
};

/* Reads a line and checks the spec. False where pe_spec_check refuses it, with the reason in
 * `fault`; a line that names what does not exist aborts. Cleared by kit_spec_clear in either case.
 */
bool kit_spec(struct kit_spec *, const char *line, struct pe_fault *fault);
void kit_spec_clear(struct kit_spec *);

#endif
