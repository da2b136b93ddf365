/* The lock profile of spin locks (option locks=on): acquisitions, waits and holders, reported by
 * HZ_VC_LOCK_EVENT.
 *
 * The firmware reports from inside freezes, so the lock profile costs no device time. It restarts when
 * the firmware resets its statistics; the run's report shows its state at the firmware's last
 * report. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_LOCK_PROFILE_H
#define VCLOCK_PROFILE_LOCK_PROFILE_H

#include <stdio.h>

#include "base/state.h"
#include "base/table.h"
#include "histogram.h"

enum { VC_LOCK_CLASSES = 16 };

struct vc_profiled_lock {
	uint64_t tag;     /* HZ_VC_LOCK of the lock */
	uint32_t holders; /* harts inside: several readers, or one */
	uint32_t waiters;
	uint32_t owner;      /* hart of the last acquisition, plus 1; 0: none yet */
	uint32_t owner_site; /* its call site, the low half of the address */
	uint64_t acquisitions[VC_MAX_HARTS];
	uint64_t contended, wait_ns, hold_ns, handovers;
	uint64_t depth_sum; /* sum of waiters found ahead at contended acquisitions */
	uint32_t depth_most;
	uint64_t streak, longest_streak; /* consecutive acquisitions by one hart */
};

struct vc_profiled_class {
	struct vc_histogram wait, hold;
	uint64_t handover[VC_MAX_HARTS][VC_MAX_HARTS]; /* from hart to hart */
	uint64_t refused;                              /* failed tries */
	uint64_t takes_holding[VC_LOCK_CLASSES];       /* acquisitions by a hart whose innermost held lock was of that class */
};

/* Call sites of a waiter and of the holder that it waited for. */
struct vc_lock_blame {
	uint64_t tag; /* low halves of the two addresses: waiter, holder */
	uint64_t waits, wait_ns, lock_class;
};

struct vc_lock_profile {
	struct vc_table locks, blames;
	struct vc_profiled_class *classes[VC_LOCK_CLASSES]; /* NULL: no lock of the class was taken */
};

extern struct vc_lock_profile vc_lock_profile;

/* HZ_VC_LOCK_EVENT of h, the token holder. */
void vc_lock_profile_event(struct vc_hart *h);

/* The lock profile as JSON. */

/* Save the current state: the report shows it until the next call. */
void vc_lock_profile_keep(void);
/* One JSON value: the saved state, else the current one. */
void vc_lock_profile_write_json(FILE *out);

/* Shared with the report of logical locks: counts per hart; "name": {count, sum, mean and
 * percentiles}. */
void vc_write_by_hart(FILE *out, const uint64_t *counts);
void vc_write_times(FILE *out, const char *name, const struct vc_histogram *h);
/* The entries of a table in the order of compare: returns their number, and in *out an array of
 * pointers that the caller frees. */
unsigned vc_sorted(const struct vc_table *table, int (*compare)(const void *, const void *), const void ***out);
/* Comparison by weight, descending; ties by tag, for repeatable order. */
int vc_by_weight(uint64_t a, uint64_t b, uint64_t tag_a, uint64_t tag_b);

/* Logical locks (libthread's lt/logical.h): acquisitions, waiters and waiting times.
 *
 * A hypercall of one instruction reports an acquisition and names the class; a wait is reported from its
 * begin, with the waiter's address. */

/* HZ_VC_HAD. */
void vc_logical_had(const struct vc_hart *h);
/* HZ_VC_LOGICAL_ASKED, HZ_VC_LOGICAL_ENDED. */
void vc_logical_event(const struct vc_hart *h, uint64_t now_ns);
/* Restart the statistics; waits under way continue and count from their begin. */
void vc_logical_begin_anew(void);
/* Two members of a JSON object, "logical" and "logical_locks". */
void vc_logical_write_json(FILE *out);

#endif
