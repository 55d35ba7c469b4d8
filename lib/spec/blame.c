/* SPDX-License-Identifier: MIT
 *
 * blame.c: how a spec is refused: an error, the parameter, a sentence, and what would have been
 * allowed.
 */
#include "spec.h"

#include <stdarg.h>
#include <stdio.h>

enum pe_error pe__blame(const struct pe_spec *s, struct pe_fault *fault, enum pe_error error,
                        enum pe_param p, const char *format, ...)
{
    va_list args;
    fault->error = error;
    fault->param = p;
    va_start(args, format);
    vsnprintf(fault->text, sizeof fault->text, format, args);
    va_end(args);
    if (p != PE_PARAM_NONE && error != PE_UNUSED && !*fault->allowed)
        pe_param_allowed(s->kind, s->resource, p, fault->allowed, sizeof fault->allowed);
    return error;
}
