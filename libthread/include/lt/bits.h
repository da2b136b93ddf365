/* Bit search: one instruction (Zbb); the compiler's builtins would be a call on a core without it. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_BITS_H
#define LT_BITS_H

#include <stdint.h>

/* Number of the lowest set bit; bits != 0. */
static inline unsigned lt_lowest_bit(uint64_t bits) { return (unsigned)__builtin_ctzll(bits); }
/* How many are set. */
static inline unsigned lt_count_bits(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }

#endif
