/* memcpy and friends, eight bytes at a time if both sides are aligned alike. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include <stdint.h>

enum { WORD = sizeof(uint64_t), BLOCK = 8 * WORD };

static uint64_t *copy_block(uint64_t *d, const uint64_t *s)
{
	uint64_t a = s[0], b = s[1], c = s[2], e = s[3], f = s[4], g = s[5], h = s[6], i = s[7];

	d[0] = a;
	d[1] = b;
	d[2] = c;
	d[3] = e;
	d[4] = f;
	d[5] = g;
	d[6] = h;
	d[7] = i;
	return d + 8;
}

static uint64_t *fill_block(uint64_t *d, uint64_t word)
{
	d[0] = d[1] = d[2] = d[3] = d[4] = d[5] = d[6] = d[7] = word;
	return d + 8;
}

/* Ascending copy; right for overlapping memory too as long as dst is below src, since a block is read before it is written. */
static void *copy_up(void *dst, const void *src, size_t bytes)
{
	uint8_t *d = dst;
	const uint8_t *s = src;

	if ((((uintptr_t)d ^ (uintptr_t)s) & (WORD - 1)) == 0) {
		for (; bytes && ((uintptr_t)d & (WORD - 1)); bytes--)
			*d++ = *s++;
		for (; bytes >= BLOCK; bytes -= BLOCK, s += BLOCK)
			d = (uint8_t *)copy_block((uint64_t *)d, (const uint64_t *)s);
		for (; bytes >= WORD; bytes -= WORD, d += WORD, s += WORD)
			*(uint64_t *)d = *(const uint64_t *)s;
	}
	for (; bytes; bytes--)
		*d++ = *s++;
	return dst;
}

void *memcpy(void *restrict dst, const void *restrict src, size_t bytes) { return copy_up(dst, src, bytes); }

void *memmove(void *dst, const void *src, size_t bytes)
{
	uint8_t *d = (uint8_t *)dst + bytes;
	const uint8_t *s = (const uint8_t *)src + bytes;

	if ((uintptr_t)dst - (uintptr_t)src >= bytes)
		return copy_up(dst, src, bytes);
	for (; bytes; bytes--)
		*--d = *--s;
	return dst;
}

void *memset(void *dst, int value, size_t bytes)
{
	uint8_t *d = dst;
	uint64_t word = (uint8_t)value * 0x0101010101010101ull;

	for (; bytes && ((uintptr_t)d & (WORD - 1)); bytes--)
		*d++ = (uint8_t)value;
	for (; bytes >= BLOCK; bytes -= BLOCK)
		d = (uint8_t *)fill_block((uint64_t *)d, word);
	for (; bytes >= WORD; bytes -= WORD, d += WORD)
		*(uint64_t *)d = word;
	for (; bytes; bytes--)
		*d++ = (uint8_t)value;
	return dst;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const uint8_t *x = a, *y = b;

	if ((((uintptr_t)x | (uintptr_t)y) & (WORD - 1)) == 0)
		for (; bytes >= WORD && *(const uint64_t *)x == *(const uint64_t *)y; bytes -= WORD, x += WORD)
			y += WORD;
	for (; bytes; bytes--, x++, y++)
		if (*x != *y)
			return *x < *y ? -1 : 1;
	return 0;
}

size_t strlen(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++)
		b++;
	return (uint8_t)*a - (uint8_t)*b;
}
