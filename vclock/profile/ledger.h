/* The ledger of spin locks (option locks=on): who took which lock when, who waited for whom, told by HZ_VC_LOCK_EVENT.
 *
 * The firmware tells from inside freezes, so the ledger costs no device time, however much it keeps. It begins anew when the firmware
 * resets its statistics, and what it held when the firmware last reported its own is what the run's report shows. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_PROFILE_LEDGER_H
#define VCLOCK_PROFILE_LEDGER_H

#include <stdio.h>

#include "base/state.h"
#include "base/table.h"
#include "histogram.h"

enum { VC_LEDGER_CLASSES = 16 };

struct vc_ledger_lock {
	uint64_t tag;     /* HZ_VC_LOCK of the lock */
	uint32_t holders; /* harts inside: several readers, or one */
	uint32_t waiters;
	uint32_t owner;      /* hart that took it last, plus 1; 0: nobody yet */
	uint32_t owner_site; /* and where, the low half of the address */
	uint64_t acquisitions[VC_MAX_HARTS];
	uint64_t contended, wait_ns, hold_ns, handovers;
	uint64_t depth_sum; /* harts that each contended one found waiting before it */
	uint32_t depth_most;
	uint64_t streak, longest_streak; /* acquisitions in a row by one hart */
};

struct vc_ledger_class {
	struct vc_histogram wait, hold;
	uint64_t handover[VC_MAX_HARTS][VC_MAX_HARTS]; /* from hart to hart */
	uint64_t refused;                              /* tries that failed */
	uint64_t takes_holding[VC_LEDGER_CLASSES];     /* acquisitions by a hart that held a lock of that class last taken */
};

/* Who waited where for a lock that was held from where. */
struct vc_ledger_blame {
	uint64_t tag; /* low halves of the two addresses: waiter, holder */
	uint64_t waits, wait_ns, lock_class;
};

struct vc_ledger {
	struct vc_table locks, blames;
	struct vc_ledger_class *classes[VC_LEDGER_CLASSES]; /* NULL: no lock of it was taken */
};

extern struct vc_ledger vc_ledger;

/* HZ_VC_LOCK_EVENT of h, the token holder. */
void vc_ledger_event(struct vc_hart *h);

/* The ledger as JSON. */

/* Keeps what the ledger holds now: from here on the report shows this, until it is kept again. */
void vc_ledger_keep(void);
/* One JSON value: what was kept, else what the ledger holds. */
void vc_ledger_write_json(FILE *out);

/* Parts that the report of logical locks has too: counts of each hart; "name": {count, sum, mean and percentiles}. */
void vc_write_by_hart(FILE *out, const uint64_t *counts);
void vc_write_times(FILE *out, const char *name, const struct vc_histogram *h);
/* The entries of a table in the order of compare: how many, and in *out pointers to them, to be freed. */
unsigned vc_sorted(const struct vc_table *table, int (*compare)(const void *, const void *), const void ***out);
/* For such a compare: more first, ties by tag, which repeats. */
int vc_by_weight(uint64_t a, uint64_t b, uint64_t tag_a, uint64_t tag_b);

/* The ledger's part about logical locks (libthread's lt/logical.h): how often each was had, who waited for it and for how long.
 *
 * Times had are told by a hint of one instruction, which names the class; a wait, from its begin on, by the address of what waits. */

/* HZ_VC_HAD. */
void vc_logical_had(const struct vc_hart *h);
/* HZ_VC_LOGICAL_ASKED, HZ_VC_LOGICAL_ENDED. */
void vc_logical_event(const struct vc_hart *h, uint64_t now_ns);
/* What waits goes on doing so, and has waited since it began to. */
void vc_logical_begin_anew(void);
/* Two members of a JSON object, "logical" and "logical_locks". */
void vc_logical_write_json(FILE *out);

#endif
