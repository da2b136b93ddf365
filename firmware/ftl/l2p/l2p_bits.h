/* A pool of numbers: those in use are bits of shared words. Any hart, no lock. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_L2P_BITS_H
#define FTL_L2P_BITS_H

#include "lt/arch.h"

enum { L2P_WORD_BITS = 64 };
#define L2P_NO_BIT UINT32_MAX

/* A number that was free and is in use now: bit i of word w is 64 w + i; L2P_NO_BIT: none is free. */
uint32_t l2p_take_bit(lt_word *taken, uint32_t words);
void l2p_give_bit(lt_word *taken, uint32_t number);

#endif
