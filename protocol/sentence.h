/* A bounded sentence built from words and numbers: firmware has no snprintf. Too long: cut off, always NUL-terminated. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_SENTENCE_H
#define HZ_PROTOCOL_SENTENCE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif
struct hz_sentence {
	char *text;
	size_t bytes, used;
};

void hz_say(struct hz_sentence *out, const char *words);
void hz_say_number(struct hz_sentence *out, uint64_t number);
#ifdef __cplusplus
}
#endif

#endif
