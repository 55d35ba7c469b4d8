/* SPDX-License-Identifier: MIT
 *
 * decimal_powers.h: the powers of ten that the decimal files share. Entry i stands for 10^e, e = i
 * + PE__FIRST_POWER, as a 128-bit number with its top bit set: decimal_powers.def tells which.
 */
#ifndef PE_DECIMAL_POWERS_H
#define PE_DECIMAL_POWERS_H

#include <stdint.h>

enum { PE__FIRST_POWER = -292, PE__LAST_POWER = 324 };

struct pe__power {
    uint64_t high, low;
};

extern const struct pe__power pe__powers[PE__LAST_POWER - PE__FIRST_POWER + 1];

/* floor(q * log10(2)), for |q| <= 1650: 315653 = round(2^20 * log10(2)). */
static inline int pe__log10_of_power_of_2(int q)
{
    return (q * 315653) >> 20;
}

/* floor(log2(10^e)), for |e| <= 1233: 1741647 = round(2^19 * log2(10)). */
static inline int pe__log2_of_power_of_10(int e)
{
    return (e * 1741647) >> 19;
}

#endif
