/* printf-like formatting into a bounded buffer; no allocation, no locale, no floating point. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_TEXT_H
#define PLATFORM_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Conversions: c s d u x p %, with l, ll and z, minimal width and leading 0. Always NUL-terminates if room > 0 and never writes
 * beyond room; returns the length written without the NUL. Any hart. */
size_t text_format(char *out, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
size_t text_vformat(char *out, size_t room, const char *format, va_list args);

#ifdef __cplusplus
}
#endif

#endif
