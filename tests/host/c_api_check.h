/* Shared by the tests of the C interface: a device or the reason to skip, and calls that must
 * succeed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_C_API_CHECK_H
#define HZ_C_API_CHECK_H

#include <hartzone.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 8, SKIPPED = 77 };

static void require(int ok, const char *what, int code)
{
	if (ok)
		return;
	fprintf(stderr, "failed: %s (%s)\n", what, hartzone_error_text(code));
	exit(1);
}

#define SUCCEEDS(call) \
	do { \
		int code_ = (call); \
		require(code_ == 0, #call, code_); \
	} while (0)

static hartzone_device *launch_with(const struct hartzone_options *options)
{
	hartzone_device *device = hartzone_launch(options);
	const char *text = hartzone_error_text(HARTZONE_ERROR);

	if (device)
		return device;
	fprintf(stderr, "%s\n", text);
	exit(strstr(text, "was not found") || strstr(text, "not installed") ? SKIPPED : 1);
}

#endif
