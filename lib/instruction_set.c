/* SPDX-License-Identifier: MIT
 *
 * instruction_set.c: the public name of the instruction set that the kernels use.
 */
#include "posenc.h"
#include "rotation/rotor.h"

const char *pe_instruction_set(void)
{
    return pe__isa_name();
}
