/* Keeping the ledger. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "clock.h"
#include "ledger_report.h"
#include "logical.h"
#include "past.h"
#include "record.h"
#include "request.h"

enum { MOST_HELD = 16 };

/* What a hart does with locks at the moment. */
struct stand {
	uint64_t asked_ns;    /* since when it waits */
	uint64_t waited_ns;   /* how long it did, once that is over */
	uint32_t holder_site; /* of who had the lock then */
	bool waits;
	unsigned held;
	struct {
		uint64_t lock, since_ns;
	} hold[MOST_HELD];
};

struct vc_ledger vc_ledger = {
	.locks = { .entry_bytes = sizeof(struct vc_ledger_lock) },
	.blames = { .entry_bytes = sizeof(struct vc_ledger_blame) },
};
static struct stand stands[VC_MAX_HARTS];

static struct vc_ledger_class *class_of(uint64_t lock)
{
	struct vc_ledger_class **place = &vc_ledger.classes[HZ_VC_LOCK_CLASS(lock) % VC_LEDGER_CLASSES];

	if (!*place)
		*place = calloc(1, sizeof(**place));
	if (!*place)
		abort();
	return *place;
}

static void ask(struct vc_hart *h, struct vc_ledger_lock *lock, uint64_t now_ns)
{
	struct stand *stand = &stands[h->index];

	stand->waits = true;
	stand->asked_ns = now_ns;
	stand->holder_site = lock->owner_site;
	lock->contended++;
	lock->depth_sum += lock->waiters;
	if (lock->waiters > lock->depth_most)
		lock->depth_most = lock->waiters;
	lock->waiters++;
}

static void blame(const struct stand *stand, uint64_t lock, uint32_t site, uint64_t wait_ns)
{
	struct vc_ledger_blame *entry = vc_table_at(&vc_ledger.blames, (uint64_t)site << 32 | stand->holder_site);

	entry->waits++;
	entry->wait_ns += wait_ns;
	entry->lock_class = HZ_VC_LOCK_CLASS(lock);
}

static void end_wait(struct stand *stand, struct vc_ledger_lock *lock, uint32_t site)
{
	stand->waits = false;
	lock->waiters--;
	lock->wait_ns += stand->waited_ns;
	vc_histogram_add(&class_of(lock->tag)->wait, stand->waited_ns);
	blame(stand, lock->tag, site, stand->waited_ns);
}

static void change_owner(struct vc_hart *h, struct vc_ledger_lock *lock)
{
	if (lock->owner && lock->owner != h->index + 1) {
		lock->handovers++;
		class_of(lock->tag)->handover[lock->owner - 1][h->index]++;
		lock->streak = 0;
	}
	lock->owner = h->index + 1;
	if (++lock->streak > lock->longest_streak)
		lock->longest_streak = lock->streak;
}

static void got(struct vc_hart *h, struct vc_ledger_lock *lock, uint32_t site, uint64_t now_ns, bool shared)
{
	struct stand *stand = &stands[h->index];

	if (stand->waits)
		end_wait(stand, lock, site);
	if (stand->held)
		class_of(lock->tag)->takes_holding[HZ_VC_LOCK_CLASS(stand->hold[stand->held - 1].lock) % VC_LEDGER_CLASSES]++;
	lock->acquisitions[h->index]++;
	lock->owner_site = site;
	if (!shared)
		change_owner(h, lock);
	if (stand->held < MOST_HELD) {
		stand->hold[stand->held].lock = lock->tag;
		stand->hold[stand->held++].since_ns = now_ns;
	}
}

/* Mostly the last one taken. */
static void gave(struct vc_hart *h, struct vc_ledger_lock *lock, uint64_t now_ns)
{
	struct stand *stand = &stands[h->index];
	unsigned i = stand->held;

	while (i && stand->hold[i - 1].lock != lock->tag)
		i--;
	if (!i)
		return;
	lock->hold_ns += now_ns - stand->hold[i - 1].since_ns;
	vc_histogram_add(&class_of(lock->tag)->hold, now_ns - stand->hold[i - 1].since_ns);
	memmove(&stand->hold[i - 1], &stand->hold[i], (stand->held - i) * sizeof(stand->hold[0]));
	stand->held--;
}

/* Who holds and waits now goes on doing so. */
static void begin_anew(void)
{
	for (uint64_t i = 0; i < vc_ledger.locks.slots; i++) {
		struct vc_ledger_lock *lock = vc_table_entry(&vc_ledger.locks, i);

		if (lock)
			*lock = (struct vc_ledger_lock){ .tag = lock->tag, .waiters = lock->waiters, .owner_site = lock->owner_site };
	}
	for (uint64_t i = 0; i < vc_ledger.blames.slots; i++) {
		struct vc_ledger_blame *entry = vc_table_entry(&vc_ledger.blames, i);

		if (entry)
			*entry = (struct vc_ledger_blame){ .tag = entry->tag };
	}
	vc_logical_begin_anew();
	vc_request_begin_anew();
	for (unsigned c = 0; c < VC_LEDGER_CLASSES; c++)
		if (vc_ledger.classes[c])
			memset(vc_ledger.classes[c], 0, sizeof(*vc_ledger.classes[c]));
}

void vc_ledger_event(struct vc_hart *h)
{
	const struct hz_vc_slot *slot = h->slot;
	uint64_t now_ns = vc_cycles_to_ns(vc_clock(h));
	struct vc_ledger_lock *lock;

	if (!vc.options.locks || vc.ended)
		return;
	vc_account_event(h);
	vc_record_lock(h, (enum hz_vc_lock_event)slot->arg0, slot->arg1);
	if (slot->arg0 == HZ_VC_LOGICAL_ASKED || slot->arg0 == HZ_VC_LOGICAL_ENDED)
		return vc_logical_event(h, now_ns);
	if (slot->arg0 == HZ_VC_ACCOUNT_RESET || slot->arg0 == HZ_VC_ACCOUNT_SHOWN)
		return;
	if (slot->arg0 == HZ_VC_LOCKS_RESET)
		return begin_anew();
	if (slot->arg0 == HZ_VC_LOCKS_REPORTED)
		return vc_ledger_keep();
	vc_past_event(h, (enum hz_vc_lock_event)slot->arg0, slot->arg1);
	lock = vc_table_at(&vc_ledger.locks, slot->arg1);
	switch ((enum hz_vc_lock_event)slot->arg0) {
	case HZ_VC_LOCK_ASKED: return ask(h, lock, now_ns);
	case HZ_VC_LOCK_WAITED: stands[h->index].waited_ns = now_ns - stands[h->index].asked_ns; return;
	case HZ_VC_LOCK_GOT: return got(h, lock, (uint32_t)slot->arg2, now_ns, false);
	case HZ_VC_LOCK_GOT_SHARED: return got(h, lock, (uint32_t)slot->arg2, now_ns, true);
	case HZ_VC_LOCK_GIVEN: return gave(h, lock, now_ns);
	case HZ_VC_LOCK_REFUSED: class_of(lock->tag)->refused++; return;
	case HZ_VC_LOGICAL_ASKED:
	case HZ_VC_LOGICAL_ENDED:
	case HZ_VC_ACCOUNT_RESET:
	case HZ_VC_ACCOUNT_SHOWN:
	case HZ_VC_LOCKS_RESET:
	case HZ_VC_LOCKS_REPORTED: return;
	}
}
