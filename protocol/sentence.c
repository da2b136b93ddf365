/* A bounded sentence. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "sentence.h"

void hz_say(struct hz_sentence *out, const char *words)
{
	while (*words && out->used + 1 < out->bytes)
		out->text[out->used++] = *words++;
	if (out->bytes)
		out->text[out->used] = 0;
}

void hz_say_number(struct hz_sentence *out, uint64_t number)
{
	char digits[21];
	unsigned at = sizeof(digits) - 1;

	digits[at] = 0;
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	hz_say(out, digits + at);
}
