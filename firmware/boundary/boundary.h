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
	WORK_NAND,       /* a command of a plane: bus, cells, end; of a program each pass */
	WORKS
};

/* Instructions of a unit; docs/internals/clock-costs.md says where they come from. */
extern const uint16_t boundary_instructions[WORKS];

/* Device time of a unit, in 2^-16 ns; 0: engines do it. For boundary_work. */
extern uint64_t boundary_unit[WORKS];

/* Before a second hart runs. */
void boundary_init(const struct hz_device_config *cfg);
/* For boundary_work: harts do it. */
uint64_t boundary_spend(enum boundary_work work, uint32_t units, uint64_t at_ns);

/* Any hart, clock frozen, before the work takes effect; no order point. Returns when the effect can begin: at_ns, but where harts do the
 * work no sooner than it is done. What is less than a nanosecond is left to the hart's next work. */
static inline uint64_t boundary_work(enum boundary_work work, uint32_t units, uint64_t at_ns)
{
	return __builtin_expect(boundary_unit[work] != 0, 0) ? boundary_spend(work, units, at_ns) : at_ns;
}

/* Clock frozen. Of work that this hart has done before: the same. */
static inline uint64_t boundary_after(enum boundary_work work, uint64_t at_ns) { return boundary_work(work, 0, at_ns); }

#ifdef __cplusplus
}
#endif
#endif
