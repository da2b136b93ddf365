/* Fatal errors. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/fail.h"

#include <stdarg.h>
#include <string.h>

#include "platform/console.h"
#include "platform/mmio.h"
#include "platform/power.h"
#include "platform/text.h"

static struct hz_shm_header *host_header;
static lt_word failing __attribute__((aligned(64)));

void fail_attach(struct hz_shm_header *header) { host_header = header; }

/* The host reads error only after it has seen the state. */
static void tell_host(const char *text, enum hz_boot_state state)
{
	size_t length = strlen(text), most = sizeof(host_header->error) - 1;

	if (length > most)
		length = most;
	memcpy(host_header->error, text, length);
	host_header->error[length] = 0;
	mmio_fence();
	*(volatile uint32_t *)&host_header->boot_state = state;
	mmio_fence();
}

/* If another hart is reporting already, this one is idle for ever: its clock may stand still, so it must not wait. */
static void be_the_first(void)
{
	static lt_word never;

	if (!lt_cas(&failing, 0, 1))
		for (;;)
			lt_wait_take(&never, LT_FOREVER);
}

static _Noreturn void end(const char *text, enum hz_boot_state state)
{
	if (host_header)
		tell_host(text, state);
	console_line("hartzone: failed: %s", text);
	power_off(HZ_POWER_FAILED);
}

_Noreturn void fail_with(const char *format, ...)
{
	char text[256];
	va_list args;

	be_the_first();
	clock_freeze();
	va_start(args, format);
	text_vformat(text, sizeof(text), format, args);
	va_end(args);
	end(text, HZ_BOOT_FAILED);
}

_Noreturn void fail_image(const char *text)
{
	be_the_first();
	clock_freeze();
	end(text, HZ_BOOT_BAD_IMAGE);
}

void lt_fail(const char *text) { fail_with("%s (hart %u)", text, lt_hart_id()); }
