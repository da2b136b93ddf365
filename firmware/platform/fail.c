/* Fatal errors. */
#include "platform/fail.h"

#include <stdarg.h>
#include <string.h>

#include "platform/console.h"
#include "platform/mmio.h"
#include "platform/power.h"
#include "platform/text.h"

static struct hz_shm_header *host_header;
static lt_word failing __attribute__((aligned(64)));

void fail_attach(struct hz_shm_header *header)
{
	host_header = header;
}

/* The host reads error only after it has seen HZ_BOOT_FAILED. */
static void tell_host(const char *text)
{
	size_t length = strlen(text), most = sizeof(host_header->error) - 1;

	if (length > most)
		length = most;
	memcpy(host_header->error, text, length);
	host_header->error[length] = 0;
	mmio_fence();
	*(volatile uint32_t *)&host_header->boot_state = HZ_BOOT_FAILED;
	mmio_fence();
}

/* Another hart is reporting already. It may be that the clock stands still here: a hart may be idle then, but not wait. */
static _Noreturn void stand_aside(void)
{
	static lt_word never;

	for (;;)
		lt_wait_take(&never, LT_FOREVER);
}

_Noreturn void fail_with(const char *format, ...)
{
	char text[256];
	va_list args;

	if (!lt_cas(&failing, 0, 1))
		stand_aside();
	clock_freeze();
	va_start(args, format);
	text_vformat(text, sizeof(text), format, args);
	va_end(args);
	if (host_header)
		tell_host(text);
	console_line("hartzone: failed: %s", text);
	power_off(HZ_POWER_FAILED);
}

void lt_fail(const char *text)
{
	fail_with("%s (hart %u)", text, lt_hart_id());
}
