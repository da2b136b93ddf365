/* Flash time of mount, before the TSU threads run: one hart reads, synchronously. Each die has at most one read in flight and, of
 * records, one waiting. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_mount.h"

#include "tsu/tsu_state.h"

enum { RECORD_BYTES = 2 * sizeof(struct hz_nand_oob) }; /* both copies */

/* --- time lines of the dies of a channel --- */

/* The die's next step: data read cross the bus, or its next read begins. False: none. */
static bool next_step(const struct tsu_die *die, uint64_t *at_ns)
{
	const struct mount_read *mount = &die->mount;

	*at_ns = mount->begun ? mount->array_end_ns : latest_ns(mount->closed_ns, die->usage.free_ns);
	return mount->begun || mount->closed;
}

static struct tsu_die *next_die(struct tsu *tsu, uint32_t channel, uint64_t *at_ns)
{
	struct tsu_die *dies = &tsu->dies[channel * tsu->dies_per_channel], *next = NULL;
	uint64_t ns;

	*at_ns = UINT64_MAX;
	for (uint32_t i = 0; i < tsu->dies_per_channel; i++)
		if (next_step(&dies[i], &ns) && (!next || ns < *at_ns)) {
			next = &dies[i];
			*at_ns = ns;
		}
	return next;
}

/* The transfer follows when the cells are done: a command for another die of the channel goes first. */
static void begin_read(struct tsu *tsu, struct tsu_die *die, uint64_t at_ns)
{
	struct mount_read *mount = &die->mount;
	uint64_t rate = tsu->cfg->channel_bytes_per_s;

	mount->began_ns = channel_use(die->channel, at_ns, (uint64_t)tsu->cfg->command_ns * mount->pages);
	mount->array_end_ns = die->channel->usage.free_ns + mount->array_ns;
	mount->transfer_ns = rate ? ((uint64_t)mount->bytes * 1000000000 + rate / 2) / rate : 0;
	mount->begun = true;
	tsu->mount_reads.senses++;
	tsu->mount_reads.pages += mount->pages;
	tsu->mount_reads.bytes += mount->bytes;
	mount->closed = false;
	mount->pages = mount->planes = mount->bytes = 0;
}

static void step(struct tsu *tsu, struct tsu_die *die, uint64_t at_ns)
{
	if (!die->mount.begun) {
		begin_read(tsu, die, at_ns);
		return;
	}
	channel_use(die->channel, at_ns, die->mount.transfer_ns);
	usage_add(&die->usage, die->mount.began_ns, die->channel->usage.free_ns);
	die->mount.begun = false;
}

static void run_until(struct tsu *tsu, uint32_t channel, uint64_t until_ns)
{
	struct tsu_die *die;
	uint64_t at_ns;

	while ((die = next_die(tsu, channel, &at_ns)) != NULL && at_ns <= until_ns)
		step(tsu, die, at_ns);
}

/* --- waiting --- */

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

static void close_next(struct tsu_die *die)
{
	if (!die->mount.pages || die->mount.closed)
		return;
	die->mount.closed = true;
	die->mount.closed_ns = clock_now_ns();
}

/* Until the die's next read has begun. */
static void await_begin(struct tsu *tsu, uint32_t die_index)
{
	struct tsu_die *die = &tsu->dies[die_index];
	uint64_t at_ns;

	close_next(die);
	if (!die->mount.closed)
		return;
	while (die->mount.closed) {
		struct tsu_die *next = next_die(tsu, die_index / tsu->dies_per_channel, &at_ns);

		step(tsu, next, at_ns);
	}
	wait_until(die->mount.began_ns);
}

static void await_die(struct tsu *tsu, uint32_t die_index)
{
	struct tsu_die *die = &tsu->dies[die_index];

	await_begin(tsu, die_index);
	if (die->mount.begun)
		run_until(tsu, die_index / tsu->dies_per_channel, die->mount.array_end_ns);
	wait_until(die->usage.free_ns);
}

/* --- reads of one page --- */

static void read_data(struct tsu *tsu, struct flash_addr addr, uint32_t sectors, bool side_by_side)
{
	struct tsu_die *die = &tsu->dies[addr.die_index];
	struct tsu_txn txn = { .op = TSU_READ, .addr = addr, .sectors = (uint16_t)sectors };
	struct die_op op = { .members = &txn };

	(void)side_by_side;
	await_die(tsu, addr.die_index);
	die->mount.array_ns = die_array_ns(die, &op, clock_now_ns());
	die->mount.pages = 1;
	die->mount.bytes = sectors * HZ_SECTOR_BYTES;
	run_until(tsu, addr.channel, clock_now_ns());
	begin_read(tsu, die, clock_now_ns());
}

static bool joins(const struct mount_read *mount, struct flash_addr addr, uint32_t page)
{
	return !mount->closed && mount->block == addr.block && mount->page == page && !(mount->planes >> addr.plane & 1);
}

/* The die's next read, or one that joins it. The slowest plane counts. */
static void ask(struct tsu *tsu, const struct tsu_txn *txn, uint32_t bytes, uint64_t array_ns, bool side_by_side)
{
	struct tsu_die *die = &tsu->dies[txn->addr.die_index];
	struct mount_read *mount = &die->mount;
	uint32_t page = tsu_page_of(&tsu->timing, txn);

	if (mount->pages && !joins(mount, txn->addr, page))
		await_begin(tsu, txn->addr.die_index);
	mount->block = txn->addr.block;
	mount->page = page;
	mount->planes |= 1u << txn->addr.plane;
	mount->array_ns = mount->pages ? latest_ns(mount->array_ns, array_ns) : array_ns;
	mount->bytes += bytes;
	if (++mount->pages == tsu->cfg->planes_per_die || !side_by_side)
		close_next(die);
}

/* The records have an ECC of their own: no read is tried again for them. */
static void ask_records(struct tsu *tsu, struct flash_addr addr, uint32_t sectors, bool side_by_side)
{
	struct tsu_txn txn = { .op = TSU_READ, .addr = addr, .sectors = (uint16_t)sectors };

	ask(tsu, &txn, sectors * RECORD_BYTES, tsu_array_ns(&tsu->timing, &txn, 0), side_by_side);
}

static void ask_data(struct tsu *tsu, struct flash_addr addr, uint32_t sectors, bool side_by_side)
{
	struct tsu_txn txn = { .op = TSU_READ, .addr = addr, .sectors = (uint16_t)sectors };
	struct die_op op = { .members = &txn };

	ask(tsu, &txn, sectors * HZ_SECTOR_BYTES, die_array_ns(&tsu->dies[addr.die_index], &op, clock_now_ns()), side_by_side);
}

typedef void read_fn(struct tsu *tsu, struct flash_addr addr, uint32_t sectors, bool side_by_side);

static void by_page(struct tsu *tsu, struct flash_addr addr, uint32_t sectors, bool side_by_side, read_fn *read)
{
	uint32_t page_sectors = 1u << tsu->timing.page_shift;

	while (sectors) {
		uint32_t left = page_sectors - addr.sector % page_sectors, part = sectors < left ? sectors : left;

		read(tsu, addr, part, side_by_side);
		addr.sector += part;
		sectors -= part;
	}
}

enum nand_status tsu_read_now(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, uint32_t at, struct hz_oob *oob)
{
	struct flash_addr addr = flash_addr_of(tsu->map, ppa);

	if (!tsu->mounted)
		by_page(tsu, addr, sectors, false, read_data);
	return tsu->nand->ops->read(tsu->nand, addr, sectors, data, at, oob);
}

enum nand_status tsu_data_now(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, struct hz_oob *oob)
{
	struct flash_addr addr = flash_addr_of(tsu->map, ppa);

	if (!tsu->mounted)
		by_page(tsu, addr, sectors, true, ask_data);
	return tsu->nand->ops->read(tsu->nand, addr, sectors, data, 0, oob);
}

void tsu_records_now(struct tsu *tsu, ppa_t ppa, uint32_t sectors, bool side_by_side, struct hz_oob *oob)
{
	struct flash_addr addr = flash_addr_of(tsu->map, ppa);

	if (!tsu->mounted)
		by_page(tsu, addr, sectors, side_by_side, ask_records);
	tsu->nand->ops->records(tsu->nand, addr, sectors, oob);
}

const struct hz_nand_block *tsu_block_now(struct tsu *tsu, ppa_t ppa)
{
	return tsu->nand->ops->block(tsu->nand, flash_addr_of(tsu->map, ppa));
}

void tsu_await_reads(struct tsu *tsu)
{
	for (uint32_t i = 0; i < tsu->die_count; i++)
		close_next(&tsu->dies[i]);
	for (uint32_t i = 0; i < tsu->die_count; i++)
		await_die(tsu, i);
}

void tsu_mounted(struct tsu *tsu)
{
	tsu_await_reads(tsu);
	tsu->mounted = true;
}

struct tsu_mount_reads tsu_mount_reads(const struct tsu *tsu) { return tsu->mount_reads; }
