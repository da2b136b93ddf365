/* Cohort lock of two ticket locks (Dice, Marathe and Shavit, PPoPP 2012: C-TKT-TKT): harts of a cluster queue for their cluster's lock,
 * its holder for the lock of all, and a release hands both to the next hart of the same cluster, a limited number of times in a row. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "kinds.h"

enum { MOST_PASSES = 64, USUAL_CLUSTER = 4 }; /* chosen here; the paper's bound is 64 too */

struct lt_cohort {
	LT_OWN_LINE lt_word next;
	LT_OWN_LINE lt_word serving;
	/* Of the holder of the cluster's lock. */
	LT_OWN_LINE uint64_t ticket; /* in the queue of all */
	uint32_t passes;             /* since the cluster has the lock of all */
	bool passed;                 /* the lock of all came with the cluster's */
};

static unsigned clusters;
static uint8_t cluster_of[HZ_MAX_HARTS];

void lt_cohort_harts_init(unsigned harts, unsigned cluster)
{
	unsigned size = cluster ? cluster : USUAL_CLUSTER, members = 0;

	clusters = 1;
	for (unsigned i = 0; i < harts; i++, members++) {
		if (members == size) {
			members = 0;
			clusters++;
		}
		cluster_of[i] = (uint8_t)(clusters - 1);
	}
}

static void cohort_init(struct lt_lock *lock, struct arena *arena)
{
	lock->cohort = arena_alloc(arena, clusters, sizeof(*lock->cohort), "cohort lock: clusters");
}

static struct lt_cohort *mine(const struct lt_lock *lock) { return &lock->cohort[cluster_of[lt_hart_id()]]; }

static bool cohort_enter(struct lt_lock *lock, struct lt_lock_node *node)
{
	struct lt_cohort *cluster = mine(lock);

	node->value = lt_add(&cluster->next, 1);
	lt_preset(&node->waiting, lt_load(&cluster->serving) != node->value);
	if (lt_peek(&node->waiting))
		return false;
	if (cluster->passed)
		return true;
	cluster->ticket = lt_add(&lock->word, 1);
	return lt_load(&lock->serving) == cluster->ticket;
}

/* node->waiting: for the cluster's lock first, not yet in the queue of all. */
static void cohort_wait(struct lt_lock *lock, struct lt_lock_node *node)
{
	struct lt_cohort *cluster = mine(lock);

	if (lt_peek(&node->waiting)) {
		lt_wait_for_turn(&cluster->serving, node->value);
		if (cluster->passed)
			return;
		cluster->ticket = lt_add(&lock->word, 1);
	}
	lt_wait_for_turn(&lock->serving, cluster->ticket);
}

/* A cluster without waiters has passed nothing on. */
static bool cohort_try(struct lt_lock *lock, struct lt_lock_node *node)
{
	struct lt_cohort *cluster = mine(lock);
	uint64_t ticket;

	node->value = lt_load(&cluster->serving);
	if (!lt_cas(&cluster->next, node->value, node->value + 1))
		return false;
	ticket = lt_load(&lock->serving);
	if (lt_cas(&lock->word, ticket, ticket + 1)) {
		cluster->ticket = ticket;
		return true;
	}
	lt_store(&cluster->serving, node->value + 1);
	return false;
}

static void cohort_release(struct lt_lock *lock, struct lt_lock_node *node)
{
	struct lt_cohort *cluster = mine(lock);

	cluster->passed = cluster->passes < MOST_PASSES && lt_load(&cluster->next) != node->value + 1;
	cluster->passes = cluster->passed ? cluster->passes + 1 : 0;
	if (!cluster->passed)
		lt_store(&lock->serving, cluster->ticket + 1);
	lt_store(&cluster->serving, node->value + 1);
}

const struct lt_lock_ops lt_cohort_ops = { cohort_init, cohort_enter, cohort_wait, cohort_try, cohort_release, NULL };
