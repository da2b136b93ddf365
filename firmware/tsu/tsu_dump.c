/* On capacitors: running operations of dies end or are given up, then one hart programs the power-loss dump. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_dump.h"

#include "tsu/tsu_internal.h"
#include "tsu/tsu_state.h"

void tsu_set_dump(struct tsu *tsu, void (*run)(void *ctx), void *ctx)
{
	tsu->whole->dump.run = run;
	tsu->whole->dump.ctx = ctx;
}

uint64_t tsu_dump_ready_ns(const struct tsu *tsu, uint32_t die_index)
{
	return latest_ns(tsu->whole->dump.report.lost_ns, tsu->dies[die_index].usage.free_ns);
}

bool tsu_dump_is_next(struct tsu *tsu, ppa_t ppa)
{
	struct flash_addr addr = flash_addr_of(tsu->map, ppa);
	const struct hz_nand_block *block = tsu->nand->ops->block(tsu->nand, addr);

	return block->write_sector == addr.sector && !(block->flags & (HZ_BLOCK_BAD_GROWN | HZ_BLOCK_BAD_FACTORY | HZ_BLOCK_ERASING));
}

/* --- energy: milliwatts times nanoseconds are picojoules --- */

static void note_end(struct tsu *tsu, uint64_t end_ns)
{
	struct hz_dump_report *report = &tsu->dump.report;

	report->took_ns = latest_ns(report->took_ns, end_ns - report->lost_ns);
}

static uint64_t energy_pj(const struct tsu *tsu) { return tsu->dump.spent_pj + tsu->dump.report.took_ns * tsu->cfg->plp_controller_mw; }

/* False: more than the capacitors hold. 0: they hold as much as it takes. */
static bool affords(const struct tsu *tsu) { return !tsu->cfg->plp_energy_uj || energy_pj(tsu) <= tsu->cfg->plp_energy_uj * 1000000ull; }

/* --- a program --- */

/* Its data cross the channel, then the cells work, as often as it takes; the die does nothing else meanwhile. */
static void spend_program_time(struct tsu *tsu, struct tsu_die *die, const struct tsu_txn *txn)
{
	uint32_t passes = tsu_passes(&tsu->timing, txn);
	uint64_t transfer_ns = tsu->timing.transfer_ns[txn->sectors] + tsu->cfg->command_ns;

	for (uint32_t pass = 0; pass < passes; pass++) {
		uint64_t array_ns = tsu_drawn_ns(&tsu->timing, txn, pass, &die->luck);
		uint64_t began_ns = channel_use(die->channel, tsu_dump_ready_ns(tsu, txn->addr.die_index), transfer_ns);

		usage_add(&die->usage, began_ns, began_ns + transfer_ns + array_ns);
		tsu->dump.spent_pj += transfer_ns * tsu->cfg->plp_transfer_mw + array_ns * tsu->cfg->plp_program_mw;
	}
	note_end(tsu, die->usage.free_ns);
}

enum nand_status tsu_dump_program(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, const struct hz_oob *oob)
{
	struct hz_dump_report *report = &tsu->whole->dump.report;
	struct tsu_txn txn = { .op = TSU_PROGRAM, .ppa = ppa, .sectors = (uint16_t)sectors, .addr = flash_addr_of(tsu->map, ppa) };
	enum nand_status status;

	spend_program_time(tsu->whole, &tsu->dies[txn.addr.die_index], &txn);
	if (!affords(tsu->whole)) {
		report->empty = 1;
		tsu->nand->ops->tear(tsu->nand, txn.addr, sectors, data, 0, oob);
		return NAND_POWER_OFF;
	}
	status = tsu->nand->ops->program(tsu->nand, txn.addr, sectors, data, 0, oob);
	if (status == NAND_POWER_WENT) /* it has gone already */
		status = NAND_OK;
	report->empty |= status == NAND_POWER_OFF;
	report->programs += status == NAND_OK;
	report->failed_programs += status == NAND_PROGRAM_FAILED;
	if (status == NAND_PROGRAM_FAILED)
		tsu->nand->ops->retire(tsu->nand, txn.addr);
	return status;
}

enum nand_status tsu_dump_belated(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, const struct hz_oob *oob)
{
	struct flash_addr addr = flash_addr_of(tsu->map, ppa);
	enum nand_status status;

	tsu->nand->belated = true;
	status = tsu->nand->ops->program(tsu->nand, addr, sectors, data, 0, oob);
	if (status == NAND_PROGRAM_FAILED)
		tsu->nand->ops->retire(tsu->nand, addr);
	tsu->nand->belated = false;
	return status;
}

struct nand *tsu_dump_media(struct tsu *tsu) { return tsu->nand; }

void tsu_dump_count(struct tsu *tsu, uint32_t sectors, uint32_t in_place)
{
	tsu->whole->dump.report.sectors += sectors;
	tsu->whole->dump.report.in_place += in_place;
}

void tsu_dump_report(const struct tsu *tsu, struct hz_dump_report *out)
{
	*out = tsu->dump.report;
	out->energy_pj = affords(tsu) ? energy_pj(tsu) : tsu->cfg->plp_energy_uj * 1000000ull;
}

/* --- power goes --- */

/* The last pass of a program ends; its data are correct. Anything else is given up and leaves half-written cells. */
static void end_program(struct tsu *tsu, struct tsu_die *die)
{
	uint64_t left_pj = (die->op.array_end_ns - tsu->dump.report.lost_ns) * tsu->cfg->plp_program_mw;

	for (struct tsu_txn *txn = die->op.members; txn; txn = txn->next) {
		tsu->dump.spent_pj += left_pj;
		if (!(tsu->nand->ops->block(tsu->nand, txn->addr)->flags & HZ_BLOCK_BAD_GROWN) &&
		    tsu->nand->ops->program(tsu->nand, txn->addr, txn->sectors, txn->data.memory ? &txn->data : NULL, txn->data_at,
					    txn->oob) == NAND_PROGRAM_FAILED)
			tsu->nand->ops->retire(tsu->nand, txn->addr);
	}
	usage_add(&die->usage, die->usage.free_ns, die->op.array_end_ns);
	note_end(tsu, die->op.array_end_ns);
	die->op.members = NULL;
}

static void end_all(struct tsu *tsu)
{
	for (uint32_t i = 0; i < tsu->die_count; i++) {
		struct tsu_die *die = &tsu->dies[i];

		if (die->state == DIE_ARRAY && op_is_program(&die->op) && die->op.pass + 1u == tsu_passes(&tsu->timing, die->op.members) &&
		    die->op.array_end_ns > tsu->dump.report.lost_ns)
			end_program(tsu, die);
		tsu_tear_die(die, tsu->dump.report.lost_ns);
	}
}

void tsu_dump(struct tsu *tsu, uint64_t lost_ns)
{
	tsu->dump.report.lost_ns = lost_ns;
	end_all(tsu);
	tsu->dump.run(tsu->dump.ctx);
}
