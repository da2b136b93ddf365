/* The end of a transaction: its effect on the media, the counters, and the way back to its owner. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_internal.h"

#include "boundary/boundary.h"
#include "lt/native.h"
#include "tsu/tsu_state.h"

static void run_done(struct lt_event *event)
{
	struct tsu_txn *txn = TSU_CONTAINER(event, struct tsu_txn, event);

	txn->done(txn);
}

/* Operations queued behind a failure fail too: the block is already retired, and asking the media would break its rules. */
static bool block_is_gone(struct nand *nand, const struct tsu_txn *txn)
{
	return txn->op != TSU_READ && (nand->ops->block(nand, txn->addr)->flags & HZ_BLOCK_BAD_GROWN);
}

/* ECC gave up: no data of the page are handed out. */
static enum nand_status lose_data(struct tsu_txn *txn)
{
	if (txn->data.memory && !txn->take)
		sgl_zero(&txn->data, txn->data_at, txn->sectors * HZ_SECTOR_BYTES);
	for (uint32_t i = 0; txn->oob && i < txn->sectors; i++)
		txn->oob[i].flags |= HZ_OOB_LOST;
	return NAND_UNCORRECTABLE;
}

static void take_sectors(struct tsu_thread *thread, struct tsu_txn *txn)
{
	for (uint32_t i = 0; i < txn->sectors && !txn->verdict; i++)
		txn->verdict = txn->take(txn, i, thread->page[i]);
}

/* Data go through ECC to the caller's function, and no further. */
static enum nand_status read_and_take(struct tsu_thread *thread, struct tsu_txn *txn)
{
	struct nand *nand = thread->tsu->nand;
	const struct sgl page = { .memory = thread->page, .bytes = txn->sectors * HZ_SECTOR_BYTES };
	enum nand_status status = nand->ops->read(nand, txn->addr, txn->sectors, &page, 0, txn->oob);

	if (status == NAND_OK && !txn->lost)
		take_sectors(thread, txn);
	return status;
}

static enum nand_status apply_txn(struct tsu_thread *thread, struct tsu_txn *txn)
{
	struct nand *nand = thread->tsu->nand;
	const struct sgl *data = txn->data.memory ? &txn->data : NULL;

	switch (txn->op) {
	case TSU_READ:
		if (txn->take)
			return read_and_take(thread, txn);
		return nand->ops->read(nand, txn->addr, txn->sectors, data, txn->data_at, txn->oob);
	case TSU_PROGRAM: return nand->ops->program(nand, txn->addr, txn->sectors, data, txn->data_at, txn->oob);
	default: return nand->ops->erase(nand, txn->addr);
	}
}

/* Filler stands behind the data of a program. */
static uint32_t padding_of(const struct tsu_txn *txn)
{
	uint32_t data = txn->sectors;

	while (txn->oob && data && txn->oob[data - 1].kind == HZ_OOB_PAD)
		data--;
	return txn->sectors - data;
}

static void count_txn(struct hz_log_flash *counters, const struct tsu_txn *txn)
{
	bool failed = txn->status != NAND_OK && txn->status != NAND_MARKED;
	uint32_t padding;

	switch (txn->op) {
	case TSU_READ:
		counters->reads[txn->cause]++;
		counters->read_sectors[txn->cause] += txn->sectors;
		counters->failed_reads += failed;
		break;
	case TSU_PROGRAM:
		counters->programs[txn->cause]++;
		padding = padding_of(txn);
		counters->program_sectors[txn->cause] += txn->sectors - padding;
		counters->program_sectors[HZ_CAUSE_PAD] += padding;
		counters->failed_programs += failed;
		break;
	default: counters->erases[txn->cause]++; counters->failed_erases += failed;
	}
}

HZ_FROZEN void txn_complete(struct tsu_thread *thread, struct tsu_txn *txn, uint64_t end_ns)
{
	struct tsu *tsu = thread->tsu;
	struct hz_native_call call;

	if (LT_NATIVE(call, txn_complete, (uintptr_t)thread, (uintptr_t)txn, end_ns))
		return;
	txn->end_ns = end_ns;
	if (txn->op == TSU_READ)
		boundary_work(WORK_CHECKSUM, txn->sectors, end_ns);
	if (block_is_gone(tsu->nand, txn))
		txn->status = txn->op == TSU_ERASE ? NAND_ERASE_FAILED : NAND_PROGRAM_FAILED;
	else
		txn->status = apply_txn(thread, txn);
	if (txn->op == TSU_READ)
		txn->end_ns = boundary_after(WORK_CHECKSUM, end_ns);
	if (txn->lost && (txn->status == NAND_OK || txn->status == NAND_MARKED))
		txn->status = lose_data(txn);
	if (txn->op == TSU_PROGRAM && txn->status != NAND_POWER_OFF)
		tsu->nand->ops->programmed(tsu->nand, txn->addr, end_ns);
	if (txn->status == NAND_PROGRAM_FAILED || txn->status == NAND_ERASE_FAILED)
		tsu->nand->ops->retire(tsu->nand, txn->addr);
	if (txn->status == NAND_POWER_OFF) {
		thread->dead = true;
		lt_store(&tsu->off, 1);
		return;
	}
	if (txn->status == NAND_POWER_WENT) {
		tsu_power_went(thread, end_ns);
		return;
	}
	lt_tell_span(HZ_VC_SPAN_OF(txn->addr.die_index, txn->op, txn->cause), txn->start_ns, end_ns);
	die_queue_ended(&tsu->rules, txn);
	count_txn(&thread->counters, txn);
	thread->done++;
	lt_post(txn->owner, &txn->event, LT_CODE(run_done));
}
