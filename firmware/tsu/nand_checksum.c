/* Sector checksum: four lanes of xor, rotate, multiply over 64-bit words. Any changed word changes its lane for certain, since each
 * step is a bijection of the lane. */
#include "tsu/nand_checksum.h"

#define MULTIPLIER 0x9e3779b97f4a7c15ull /* 2^64 / golden ratio, odd */

static inline uint64_t step(uint64_t lane, uint64_t word)
{
	lane = (lane ^ word) * MULTIPLIER;
	return lane << 29 | lane >> 35;
}

uint64_t nand_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a + (b + 1) * MULTIPLIER;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint32_t nand_checksum(const void *data, const struct hz_oob *oob)
{
	uint64_t a = oob->sequence, b = oob->lpa, c = oob->generation, d = (uint64_t)oob->kind << 8 | oob->stream;
	const uint64_t *word = data;

	for (unsigned i = 0; data && i < HZ_SECTOR_BYTES / sizeof(*word); i += 4) {
		a = step(a, word[i]);
		b = step(b, word[i + 1]);
		c = step(c, word[i + 2]);
		d = step(d, word[i + 3]);
	}
	a = nand_mix(nand_mix(a, b), nand_mix(c, d));
	return (uint32_t)(a ^ a >> 32);
}
