/* Power cut at a device time: whatever the cells are doing then stays half done, nothing later happens. And what the image knows of power
 * and rest. */
#include "tsu/tsu_state.h"

static void tear(struct nand *nand, const struct die_op *op)
{
	for (struct tsu_txn *txn = op->members; txn; txn = txn->next)
		nand->ops->tear(nand, txn->addr, txn->op == TSU_ERASE ? 0 : txn->sectors, txn->data.page ? &txn->data : NULL,
				txn->data_at, txn->oob);
}

static bool cells_were_busy(const struct tsu_die *die, uint64_t cut_ns)
{
	return die->state == DIE_ARRAY && !is_read(&die->op) && die->op.array_end_ns - die->op.array_ns <= cut_ns;
}

static void cut_die(struct tsu_die *die, uint64_t cut_ns)
{
	struct nand *nand = die->thread->tsu->nand;

	if (cells_were_busy(die, cut_ns) || (die->op.members && die->op.pass))
		tear(nand, &die->op);
	if (die->cached.members && die->cached.pass) /* between two passes */
		tear(nand, &die->cached);
	if (die->suspended.members)
		tear(nand, &die->suspended);
}

static void power_cut(struct wheel_node *node)
{
	struct tsu_thread *thread = TSU_CONTAINER(node, struct tsu_thread, power_cut);
	struct tsu *tsu = thread->tsu;

	for (uint32_t i = 0; i < tsu->die_count; i++)
		if (tsu->dies[i].thread == thread)
			cut_die(&tsu->dies[i], node->at_ns);
	thread->dead = true;
	if (lt_add(&tsu->cut_threads, 1) + 1 == tsu->cfg->tsu_count)
		tsu->nand->ops->power_off(tsu->nand);
}

void tsu_power_init(struct tsu_thread *thread)
{
	thread->power_cut.fire = power_cut;
	if (thread->tsu->nand->power_cut_ns)
		wheel_add(&thread->wheel, &thread->power_cut, thread->tsu->nand->power_cut_ns);
}

void tsu_history(struct tsu *tsu, struct nand_history *out)
{
	tsu->nand->ops->history(tsu->nand, out);
}

void tsu_shut_down(struct tsu *tsu, bool done)
{
	tsu->nand->ops->shut_down(tsu->nand, done);
}

struct nand_rest tsu_rest(struct tsu *tsu)
{
	return tsu->nand->ops->rest(tsu->nand);
}

void tsu_come_to_rest(struct tsu *tsu, uint32_t record)
{
	tsu->nand->ops->come_to_rest(tsu->nand, record);
}
