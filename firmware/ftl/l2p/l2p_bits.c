/* A pool of numbers, as bits of shared words. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "l2p/l2p_bits.h"

#include "lt/bits.h"

uint32_t l2p_take_bit(lt_word *taken, uint32_t words)
{
	for (uint32_t w = 0; w < words; w++) {
		uint64_t seen = lt_load(&taken[w]);

		while (~seen) {
			unsigned bit = lt_lowest_bit(~seen);

			if (lt_cas(&taken[w], seen, seen | 1ull << bit))
				return w * L2P_WORD_BITS + bit;
			seen = lt_load(&taken[w]);
		}
	}
	return L2P_NO_BIT;
}

void l2p_give_bit(lt_word *taken, uint32_t number) { lt_and(&taken[number / L2P_WORD_BITS], ~(1ull << number % L2P_WORD_BITS)); }
