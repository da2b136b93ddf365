/* Text on the UART. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/console.h"

#include <stdarg.h>

#include "platform/mmio.h"
#include "platform/text.h"

enum {
	QEMU_VIRT_UART = 0x10000000,
	UART_THR = 0,
	UART_LSR = 5, /* NS16550A: transmit holding register, line status register */
	UART_LSR_THR_EMPTY = 0x20,
	LINE_BYTES = 512,
};

static uintptr_t uart = QEMU_VIRT_UART;

void console_init(uint64_t uart_base) { uart = uart_base; }

static void put_char(char c)
{
	while (!(mmio_read8(uart + UART_LSR) & UART_LSR_THR_EMPTY))
		;
	mmio_write8(uart + UART_THR, (uint8_t)c);
}

void console_line(const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;

	clock_freeze();
	va_start(args, format);
	text_vformat(line, sizeof(line), format, args);
	va_end(args);
	for (const char *c = line; *c; c++)
		put_char(*c);
	put_char('\n');
	clock_thaw();
}
