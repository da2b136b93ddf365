/* Power cut at a device time: running operations of the cells stay half done, nothing later happens. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_internal.h"

#include "lt/native.h"
#include "tsu/tsu_dump.h"
#include "tsu/tsu_state.h"

static void tear_op(struct nand *nand, const struct die_op *op)
{
	for (struct tsu_txn *txn = op->members; txn; txn = txn->next)
		nand->ops->tear(nand, txn->addr, txn->op == TSU_ERASE ? 0 : txn->sectors, txn->data.memory ? &txn->data : NULL,
				txn->data_at, txn->oob);
}

static bool cells_were_busy(const struct tsu_die *die, uint64_t cut_ns)
{
	bool resumed = die->op.began_ns > die->op.first_ns; /* half done, also while it waits for power */

	return die->state == DIE_ARRAY && !op_is_read(&die->op) && (resumed || die->op.array_end_ns - die->op.array_ns <= cut_ns);
}

void tsu_tear_die(struct tsu_die *die, uint64_t cut_ns)
{
	struct nand *nand = die->thread->tsu->nand;

	if (cells_were_busy(die, cut_ns) || (die->op.members && die->op.pass))
		tear_op(nand, &die->op);
	if (die->cached.members && die->cached.pass) /* between two passes */
		tear_op(nand, &die->cached);
	if (die->suspended.members)
		tear_op(nand, &die->suspended);
}

/* An event of its own, since it takes locks, and nothing in a freeze may. */
static void all_stopped(struct lt_event *event)
{
	struct tsu *tsu = TSU_CONTAINER(event, struct tsu_thread, stopped)->tsu;

	if (tsu->dump.run)
		tsu_dump(tsu, lt_load(&tsu->power_went_ns));
	tsu->nand->ops->power_off(tsu->nand);
}

/* The last thread to stop does the rest for all. */
static void thread_stops(struct tsu_thread *thread)
{
	struct tsu *tsu = thread->tsu;

	thread->dead = true;
	lt_store(&tsu->off, 1);
	if (lt_add(&tsu->cut_threads, 1) + 1 == tsu->cfg->tsu_count)
		lt_post(&thread->thread, &thread->stopped, LT_CODE(all_stopped));
}

static void power_cut(struct wheel_node *node)
{
	struct tsu_thread *thread = TSU_CONTAINER(node, struct tsu_thread, power_cut);
	struct tsu *tsu = thread->tsu;

	for (uint32_t i = 0; i < tsu->die_count && !tsu->dump.run; i++)
		if (tsu->dies[i].thread == thread)
			tsu_tear_die(&tsu->dies[i], node->at_ns);
	lt_store(&tsu->power_went_ns, node->at_ns);
	thread_stops(thread);
}

static void power_gone(struct lt_event *event)
{
	struct tsu_thread *thread = TSU_CONTAINER(event, struct tsu_thread, power_went);

	if (!thread->dead) {
		thread_stops(thread);
		thread->engine.due_ns = LT_FOREVER;
	}
}

void tsu_power_went(struct tsu_thread *thread, uint64_t at_ns)
{
	struct tsu *tsu = thread->tsu;

	lt_store(&tsu->power_went_ns, at_ns);
	for (uint32_t i = 0; i < tsu->cfg->tsu_count; i++)
		if (&tsu->threads[i] != thread)
			lt_post(&tsu->threads[i].thread, &tsu->threads[i].power_went, LT_CODE(power_gone));
	thread_stops(thread);
}

void tsu_power_init(struct tsu_thread *thread)
{
	thread->power_cut.fire = power_cut;
	if (thread->tsu->nand->power_cut_ns)
		wheel_add_early(&thread->wheel, &thread->power_cut, thread->tsu->nand->power_cut_ns);
}
