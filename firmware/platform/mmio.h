/* Device registers. Every access is inside clock_freeze: QEMU replays an instruction on a device register, so it would be counted twice,
 * and device registers belong to the host's time, never to device time (docs/internals/virtual-clock.md). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_MMIO_H
#define PLATFORM_MMIO_H

#include <stdint.h>

#include "lt/arch.h"

static inline uint8_t mmio_read8(uintptr_t address)
{
	clock_freeze();
	uint8_t value = *(volatile uint8_t *)address;
	clock_thaw();
	return value;
}

static inline uint32_t mmio_read32(uintptr_t address)
{
	clock_freeze();
	uint32_t value = *(volatile uint32_t *)address;
	clock_thaw();
	return value;
}

static inline void mmio_write8(uintptr_t address, uint8_t value)
{
	clock_freeze();
	*(volatile uint8_t *)address = value;
	clock_thaw();
}

static inline void mmio_write32(uintptr_t address, uint32_t value)
{
	clock_freeze();
	*(volatile uint32_t *)address = value;
	clock_thaw();
}

/* Orders memory shared with a device (rings) against device registers, both ways. */
#ifdef __riscv
static inline void mmio_fence(void) { __asm__ volatile("fence iorw, iorw" ::: "memory"); }
#else
static inline void mmio_fence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#endif

#endif
