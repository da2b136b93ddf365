/* Flash time of mount, before the TSU threads run: one hart reads, synchronously, and has at most one read under way on each die. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_mount.h"

#include "tsu/tsu_state.h"

/* The die of this channel whose cells will have its read first; NULL: no read is under way. */
static struct tsu_die *first_read(struct tsu *tsu, uint32_t channel)
{
	struct tsu_die *dies = &tsu->dies[channel * tsu->dies_per_channel], *first = NULL;

	for (uint32_t i = 0; i < tsu->dies_per_channel; i++)
		if (dies[i].mount.sectors && (!first || dies[i].mount.array_end_ns < first->mount.array_end_ns))
			first = &dies[i];
	return first;
}

/* Data that the cells of this channel's dies have by until_ns cross the bus, in the order in which they were ready. */
static void send_until(struct tsu *tsu, uint32_t channel, uint64_t until_ns)
{
	struct tsu_die *die;

	while ((die = first_read(tsu, channel)) != NULL && die->mount.array_end_ns <= until_ns) {
		channel_use(die->channel, die->mount.array_end_ns, tsu->timing.transfer_ns[die->mount.sectors]);
		usage_add(&die->usage, die->mount.began_ns, die->channel->usage.free_ns);
		die->mount.sectors = 0;
	}
}

/* A charge has no effect on a real clock. */
static void wait_until(uint64_t ns)
{
	const lt_word never = { 0 };
	uint64_t now_ns = clock_now_ns();

	if (now_ns < ns)
		clock_charge_ns(ns - now_ns);
	while (clock_now_ns() < ns)
		lt_wait_while(&never, 0, ns);
}

static void await_die(struct tsu *tsu, uint32_t die_index)
{
	struct tsu_die *die = &tsu->dies[die_index];

	if (die->mount.sectors)
		send_until(tsu, die_index / tsu->dies_per_channel, die->mount.array_end_ns);
	wait_until(die->usage.free_ns);
}

/* Of one page. Its data follow when the cells have them: a command for another die of the channel goes first. */
static void begin_mount_read(struct tsu *tsu, struct flash_addr addr, uint32_t sectors)
{
	struct tsu_die *die = &tsu->dies[addr.die_index];
	struct tsu_txn txn = { .op = TSU_READ, .addr = addr, .sectors = (uint16_t)sectors };
	struct die_op op = { .members = &txn };
	uint64_t now_ns, array_ns;

	await_die(tsu, addr.die_index);
	now_ns = clock_now_ns();
	array_ns = die_array_ns(die, &op, now_ns);
	send_until(tsu, addr.channel, now_ns);
	die->mount.began_ns = channel_use(die->channel, now_ns, tsu->cfg->command_ns);
	die->mount.array_end_ns = die->channel->usage.free_ns + array_ns;
	die->mount.sectors = sectors;
}

static void spend_read_time(struct tsu *tsu, struct flash_addr addr, uint32_t sectors)
{
	uint32_t page_sectors = 1u << tsu->timing.page_shift;

	while (sectors) {
		uint32_t left = page_sectors - addr.sector % page_sectors, part = sectors < left ? sectors : left;

		begin_mount_read(tsu, addr, part);
		addr.sector += part;
		sectors -= part;
	}
}

enum nand_status tsu_read_now(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, uint32_t at, struct hz_oob *oob)
{
	struct flash_addr addr = flash_addr_of(tsu->map, ppa);

	if (!tsu->mounted)
		spend_read_time(tsu, addr, sectors);
	return tsu->nand->ops->read(tsu->nand, addr, sectors, data, at, oob);
}

const struct hz_nand_block *tsu_block_now(struct tsu *tsu, ppa_t ppa)
{
	return tsu->nand->ops->block(tsu->nand, flash_addr_of(tsu->map, ppa));
}

void tsu_await_reads(struct tsu *tsu)
{
	for (uint32_t i = 0; i < tsu->die_count; i++)
		await_die(tsu, i);
}

void tsu_mounted(struct tsu *tsu)
{
	tsu_await_reads(tsu);
	tsu->mounted = true;
}
