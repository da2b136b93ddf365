/* The ledger of spin locks (option locks=on): who took which lock when, who waited for whom, told by HZ_VC_LOCK_EVENT.
 *
 * The firmware tells from inside freezes, so the ledger costs no device time, however much it keeps. It begins anew when the firmware
 * resets its statistics, and what it held when the firmware last reported its own is what the run's report shows. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_LEDGER_H
#define VC_LEDGER_H

#include "histogram.h"
#include "state.h"
#include "table.h"

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

#endif
