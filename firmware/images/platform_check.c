/* platform_check.elf: reports the platform's findings, echoes over vsock, or fails in a planted way; for tests/qemu.
 *
 * Kernel command line (-append): "fault=illegal|load|overflow|nested|text" with "hart=N", or "echo", or nothing. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boot.h"
#include "lt/arch.h"
#include "platform/console.h"
#include "platform/fail.h"
#include "platform/platform.h"
#include "platform/power.h"
#include "platform/vsock.h"
#include "shm.h"

enum { ECHO_BYTES = 4096 };

static struct platform platform;
static lt_word go __attribute__((aligned(64)));
static lt_word arrived __attribute__((aligned(64)));

/* The text behind `key` in the command line, or NULL. */
static const char *option(const char *key)
{
	size_t length = strlen(key);

	for (const char *at = platform.machine.bootargs; *at; at++)
		if (strlen(at) >= length && memcmp(at, key, length) == 0)
			return at + length;
	return NULL;
}

static bool option_is(const char *key, const char *value)
{
	const char *text = option(key);

	return text && strlen(text) >= strlen(value) && memcmp(text, value, strlen(value)) == 0;
}

static uint64_t option_number(const char *key)
{
	const char *text = option(key);
	uint64_t number = 0;

	for (; text && *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (uint64_t)(*text - '0');
	return number;
}

/* Needs far more stack than a hart has. */
static uint64_t overflow(volatile uint8_t *outer, unsigned depth)
{
	volatile uint8_t frame[1024];

	frame[0] = outer[0];
	return (depth ? overflow(frame, depth - 1) : 0) + frame[1023];
}

static void plant_fault(void)
{
	volatile uint64_t *volatile unmapped = (volatile uint64_t *)0x7f8;
	uint8_t seed = 0;

	if (option_is("fault=", "illegal"))
		__asm__ volatile(".globl planted_illegal\nplanted_illegal: .word 0");
	if (option_is("fault=", "load"))
		(void)*unmapped;
	if (option_is("fault=", "overflow"))
		overflow(&seed, 1000);
	if (option_is("fault=", "nested"))
		__asm__ volatile("csrw mscratch, zero\n\t.word 0"); /* the report gets no stack */
	if (option_is("fault=", "text"))
		lt_fail("planted failure");
}

static void report(void)
{
	const struct machine *m = &platform.machine;

	console_line("check: harts %u, ram %lu MiB, heap %lu MiB, timebase %lu Hz, virtual clock %d", m->harts,
		     (unsigned long)(m->ram.bytes >> 20), (unsigned long)(platform.arena.bytes >> 20), (unsigned long)m->timebase_hz,
		     clock_is_virtual());
	for (uint32_t i = 0; i < platform.pci.count; i++) {
		const struct pci_function *f = &platform.pci.function[i];

		console_line("check: pci %04x:%04x bar2 0x%lx, %lu KiB", f->vendor, f->device, (unsigned long)f->bar[2].base,
			     (unsigned long)(f->bar[2].bytes >> 10));
	}
	if (platform.ivshmem_error)
		console_line("check: %s", platform.ivshmem_error);
	console_line("check: shared memory %lu KiB, NAND image %lu KiB", (unsigned long)(platform.ivshmem.shared.bytes >> 10),
		     (unsigned long)(platform.ivshmem.nand.bytes >> 10));
}

/* Promises of the arena about its memory. */
static void count_written(void)
{
	const uint64_t *word = (const uint64_t *)platform.arena.base, *end = word + platform.arena.blank / sizeof(*word);
	unsigned long written = 0;

	while (word < end)
		written += *word++ != 0;
	console_line("check: %lu words of the heap are written", written);
}

/* The last byte of a region must be ours to write: the whole BAR is mapped. */
static void touch_ends(const struct ivshmem_region *region)
{
	volatile uint8_t *last = region->base + region->bytes - 1;

	if (!region->base)
		return;
	*last = 0xa5;
	if (*last != 0xa5)
		fail_with("check: the last byte of a shared region does not hold its value");
}

static void echo(void)
{
	static uint8_t data[ECHO_BYTES];
	const char *error;
	struct vsock *vsock = vsock_init(&platform.arena, &platform.machine, HZ_CONTROL_PORT, &error);

	if (!vsock)
		fail_with("%s", error);
	console_line("check: listening on port %d", HZ_CONTROL_PORT);
	clock_freeze();
	for (;;) {
		int bytes = vsock_recv(vsock, data, sizeof(data)), sent = 0;

		if (bytes < 0)
			console_line("check: peer has gone");
		if (bytes >= 4 && memcmp(data, "quit", 4) == 0)
			break;
		for (int done = 0; done < bytes && sent >= 0; done += sent > 0 ? sent : 0)
			sent = vsock_send(vsock, data + done, (size_t)(bytes - done));
	}
	clock_thaw();
}

static void wait_for_all(void)
{
	uint64_t seen;

	while ((seen = lt_load(&arrived)) < platform.machine.harts)
		lt_spin_while(&arrived, seen);
	console_line("check: all %u harts are running", platform.machine.harts);
}

_Noreturn void hart_main(uint64_t hart, const void *device_tree)
{
	if (hart == 0) {
		platform_init(&platform, device_tree, boot_heap);
		if (platform.ivshmem.shared.base)
			fail_attach((struct hz_shm_header *)platform.ivshmem.shared.base);
		report();
		if (option("blank"))
			count_written();
		touch_ends(&platform.ivshmem.shared);
		touch_ends(&platform.ivshmem.nand);
		lt_store(&go, 1);
	}
	while (!lt_load(&go))
		lt_spin_while(&go, 0);
	if (option("fault=") && hart == option_number("hart="))
		plant_fault();
	lt_add(&arrived, 1);
	if (hart == 0) {
		wait_for_all();
		if (option("echo"))
			echo();
		power_off(HZ_POWER_OK);
	}
	for (;;)
		lt_wait_while(&go, 1, LT_FOREVER);
}
