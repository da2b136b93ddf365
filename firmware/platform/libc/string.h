/* The firmware's only part of libc: the freestanding compiler brings no string.h of its own. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_LIBC_STRING_H
#define PLATFORM_LIBC_STRING_H

#include <stddef.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t bytes);
void *memmove(void *dst, const void *src, size_t bytes);
void *memset(void *dst, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);

#endif
