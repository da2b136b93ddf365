/* Bit search without the library routine that a core without Zbb would call (some 35 instructions). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_BITS_H
#define LT_BITS_H

#include <stdint.h>

extern const uint8_t lt_bit_of_debruijn[64];

/* Number of the lowest set bit; bits != 0. A de Bruijn sequence holds every 6-bit word once (Leiserson, Prokop and Randall 1998). */
static inline unsigned lt_lowest_bit(uint64_t bits) { return lt_bit_of_debruijn[(bits & -bits) * 0x03f79d71b4cb0a89ull >> 58]; }

#endif
