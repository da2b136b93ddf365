/* Text on the UART (16550), for people and tests: nothing in the product parses it.
 *
 * One hart at a time: hart 0 while it brings the machine up, afterwards only the HIL hart or a failing hart. Costs no device time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_CONSOLE_H
#define PLATFORM_CONSOLE_H

#include <stdint.h>

/* Before this call the console is at QEMU virt's address, so that a broken device tree can be reported. */
void console_init(uint64_t uart_base);
/* Formats as text_format, at most 511 characters, ends the line itself. */
void console_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
