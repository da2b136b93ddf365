/* The hardware boundary: what engines of the controller do, or harts in their place (section `hardware` of a device file). Code that stands
 * for an engine runs with the clock frozen, whoever does its work; where harts do it, the clock of the hart that runs it advances by
 * what the work takes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BOUNDARY_BOUNDARY_H
#define BOUNDARY_BOUNDARY_H

#include "device_config.h"
#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of work, in the order of the keys, and the unit of each. */
enum boundary_work {
	WORK_FETCH,      /* a command of an I/O queue: arbitration, a copy of its entry, the head of its queue */
	WORK_COMPLETION, /* its entry in the completion queue */
	WORK_DMA,        /* a page of 4 KiB across the link: a descriptor */
	WORK_CHECKSUM,   /* a sector's checksum in flash */
	WORK_GUARD,      /* the CRC of a sector's protection information; key `checksum`, too */
	WORK_PARITY,     /* a sector that counts in the parity of its stripe (rain) */
	WORK_NAND,       /* a command of a plane: bus, cells, end; of a program each pass */
	WORKS
};

/* Instructions of a unit; docs/internals/clock-costs.md says where they come from. */
extern const uint16_t boundary_instructions[WORKS];

enum { BOUNDARY_FRACTION_BITS = 16 };

/* For boundary_work. Device time of a unit, in 2^-16 ns; 0: engines do it. Of each hart: what is not yet in its clock. */
extern uint64_t boundary_unit[WORKS];
extern uint64_t boundary_rest[HZ_MAX_HARTS];

/* Before a second hart runs. */
void boundary_init(const struct hz_device_config *cfg);

/* For boundary_work. Volatile: the address is found inside the freeze, where it costs nothing, and takes no register before. */
static inline uint64_t boundary_unit_of(enum boundary_work work)
{
	const uint64_t *unit = boundary_unit;

#ifdef __riscv
	__asm__ volatile("lla %0, boundary_unit" : "=r"(unit));
#endif
	return unit[work];
}

/* Any hart, clock frozen, before the work takes effect; no sync point. Returns when the effect can begin: at_ns, but where harts do the
 * work no sooner than it is done. What is less than a nanosecond is left to the hart's next work. Inline: a call would have callers save
 * registers before they freeze the clock, and engines would cost instructions. */
static inline __attribute__((always_inline)) uint64_t boundary_work(enum boundary_work work, uint32_t units, uint64_t at_ns)
{
	uint64_t unit = boundary_unit_of(work), spent, now_ns;
	uint64_t *rest;

	if (__builtin_expect(!unit, 1))
		return at_ns;
	rest = &boundary_rest[lt_hart_id()];
	spent = unit * units + *rest;
	*rest = spent & ((1u << BOUNDARY_FRACTION_BITS) - 1);
	clock_charge_ns(spent >> BOUNDARY_FRACTION_BITS);
	now_ns = clock_frozen_ns();
	return at_ns > now_ns ? at_ns : now_ns;
}

/* Clock frozen. Of work that this hart has done before: the same. */
static inline uint64_t boundary_after(enum boundary_work work, uint64_t at_ns) { return boundary_work(work, 0, at_ns); }

#ifdef __cplusplus
}
#endif
#endif
