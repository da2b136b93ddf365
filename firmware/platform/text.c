/* printf-like formatting into a bounded buffer. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct text_out {
	char *at;
	size_t left;
};
struct conversion {
	bool zero, wide;
	unsigned width;
	char letter;
};

static void append_char(struct text_out *out, char c)
{
	if (out->left > 1) {
		*out->at++ = c;
		out->left--;
	}
}

static void put_padded(struct text_out *out, const char *text, size_t length, const struct conversion *conv)
{
	for (size_t i = length; i < conv->width; i++)
		append_char(out, conv->zero ? '0' : ' ');
	for (size_t i = 0; i < length; i++)
		append_char(out, text[i]);
}

static void put_number(struct text_out *out, uint64_t value, unsigned base, bool negative, const struct conversion *conv)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	if (negative)
		digits[--at] = '-';
	put_padded(out, digits + at, sizeof(digits) - at, conv);
}

/* Reads flags, width and size after '%'; returns the first character behind the conversion. */
static const char *parse(const char *format, struct conversion *conv)
{
	*conv = (struct conversion){ .zero = *format == '0' };
	while (*format >= '0' && *format <= '9')
		conv->width = conv->width * 10 + (unsigned)(*format++ - '0');
	while (*format == 'l' || *format == 'z') {
		conv->wide = true;
		format++;
	}
	conv->letter = *format;
	return *format ? format + 1 : format;
}

static void put_conversion(struct text_out *out, const struct conversion *conv, va_list *args)
{
	const char *text;
	int64_t number;
	char c;

	switch (conv->letter) {
	case 'd':
		number = conv->wide ? va_arg(*args, long) : va_arg(*args, int);
		put_number(out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, 10, number < 0, conv);
		break;
	case 'u': put_number(out, conv->wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), 10, false, conv); break;
	case 'x': put_number(out, conv->wide ? va_arg(*args, unsigned long) : va_arg(*args, unsigned), 16, false, conv); break;
	case 'p': put_number(out, (uintptr_t)va_arg(*args, void *), 16, false, conv); break;
	case 's':
		text = va_arg(*args, const char *);
		put_padded(out, text ? text : "(null)", text ? strlen(text) : 6, conv);
		break;
	case 'c':
		c = (char)va_arg(*args, int);
		put_padded(out, &c, 1, conv);
		break;
	default: append_char(out, conv->letter);
	}
}

size_t text_vformat(char *out, size_t room, const char *format, va_list args)
{
	struct text_out to = { out, room };
	struct conversion conv;
	va_list copy;

	va_copy(copy, args);
	while (*format) {
		if (*format != '%') {
			append_char(&to, *format++);
			continue;
		}
		format = parse(format + 1, &conv);
		if (conv.letter)
			put_conversion(&to, &conv, &copy);
	}
	va_end(copy);
	if (room)
		*to.at = 0;
	return (size_t)(to.at - out);
}

size_t text_format(char *out, size_t room, const char *format, ...)
{
	va_list args;
	size_t length;

	va_start(args, format);
	length = text_vformat(out, room, format, args);
	va_end(args);
	return length;
}
