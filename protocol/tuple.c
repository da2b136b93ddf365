/* CRC-16 of T10 DIF four bytes at a time, and the checks of a tuple. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tuple.h"

#include "nvme.h"

/* Powers of x modulo the polynomial, from x^16 on: the effect of each bit of the four bytes on the CRC behind them. */
#define TIMES_X(c) (((c) << 1 & 0xffff) ^ ((c)&0x8000 ? 0x8bb7 : 0))
#define EIGHT(p, first) \
	p##0 = (first), p##1 = TIMES_X(p##0), p##2 = TIMES_X(p##1), p##3 = TIMES_X(p##2), p##4 = TIMES_X(p##3), p##5 = TIMES_X(p##4), \
	p##6 = TIMES_X(p##5), p##7 = TIMES_X(p##6)
enum { EIGHT(A, 0x8bb7), EIGHT(B, TIMES_X(A7)), EIGHT(C, TIMES_X(B7)), EIGHT(D, TIMES_X(C7)) };

/* Sums of them for every value of a byte. */
#define SUMS_2(c, p) (c), (c) ^ p##0, (c) ^ p##1, (c) ^ p##1 ^ p##0
#define SUMS_4(c, p) SUMS_2(c, p), SUMS_2((c) ^ p##2, p), SUMS_2((c) ^ p##3, p), SUMS_2((c) ^ p##3 ^ p##2, p)
#define SUMS_6(c, p) SUMS_4(c, p), SUMS_4((c) ^ p##4, p), SUMS_4((c) ^ p##5, p), SUMS_4((c) ^ p##5 ^ p##4, p)
#define SUMS_8(p) SUMS_6(0, p), SUMS_6(p##6, p), SUMS_6(p##7, p), SUMS_6(p##7 ^ p##6, p)
static const uint16_t behind[4][256] = { { SUMS_8(A) }, { SUMS_8(B) }, { SUMS_8(C) }, { SUMS_8(D) } };

uint16_t hz_crc16(uint16_t crc, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	for (; bytes >= 4; at += 4, bytes -= 4)
		crc = behind[3][at[0] ^ crc >> 8] ^ behind[2][at[1] ^ (crc & 0xff)] ^ behind[1][at[2]] ^ behind[0][at[3]];
	for (; bytes; at++, bytes--)
		crc = (uint16_t)(crc << 8) ^ behind[0][at[0] ^ crc >> 8];
	return crc;
}

void hz_tuple_store(void *bytes, struct hz_tuple tuple)
{
	const uint64_t value = (uint64_t)tuple.guard << 48 | (uint64_t)tuple.application << 32 | tuple.reference;
	uint8_t *at = bytes;

	for (unsigned i = 0; i < HZ_TUPLE_BYTES; i++)
		at[i] = (uint8_t)(value >> (56 - 8 * i));
}

struct hz_tuple hz_tuple_load(const void *bytes)
{
	const uint8_t *at = bytes;
	uint64_t value = 0;

	for (unsigned i = 0; i < HZ_TUPLE_BYTES; i++)
		value = value << 8 | at[i];
	return (struct hz_tuple){ (uint16_t)(value >> 48), (uint16_t)(value >> 32), (uint32_t)value };
}

uint16_t hz_tuple_check(struct hz_tuple tuple, struct hz_tuple expected, uint32_t checks, uint16_t mask)
{
	if (tuple.application == 0xffff)
		return NVME_SUCCESS;
	if (checks & HZ_CHECK_GUARD && tuple.guard != expected.guard)
		return NVME_GUARD_CHECK;
	if (checks & HZ_CHECK_APPLICATION && (tuple.application ^ expected.application) & mask)
		return NVME_APPLICATION_CHECK;
	if (checks & HZ_CHECK_REFERENCE && tuple.reference != expected.reference)
		return NVME_REFERENCE_CHECK;
	return NVME_SUCCESS;
}
