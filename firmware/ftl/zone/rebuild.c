/* Reads of unreadable sectors: the rest of their stripe is read, and combined (rain). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer/buffer.h"
#include "lt/arena.h"
#include "lt/bulk.h"
#include "request/host_data.h"
#include "zone/move.h"
#include "zone/read_write.h"
#include "zone/zone.h"

enum { REBUILDS_PER_WORKER = 2 };

/* Of a sector of the result: it is unreadable; one of the others that it needs is, or the parity is not there. */
enum lost { OWN_LOST = 1, OTHER_LOST = 2 };

/* A read of one page of its stripe. */
struct rebuild_read {
	struct tsu_txn txn; /* first: leads back to its rebuild */
	struct rebuild *rebuild;
	uint32_t offset; /* in the superblock; of the parity: 0 */
};

/* Sectors of a page, and of one page of each other die. */
struct rebuild {
	struct rebuild *next; /* in the pool */
	struct flash_read *read;
	struct flash_stripe_at at;
	uint32_t superblock, sectors, reads, pending;
	bool in_memory;            /* the parity is not among the reads */
	bool record;               /* that of an unreadable sector is there: its cells are alive */
	uint8_t *lost;             /* [page_sectors]: OWN_LOST, OTHER_LOST */
	uint16_t *flags;           /* [page_sectors]: of the result's records */
	uint8_t **memory;          /* [page_sectors]: the result */
	struct rebuild_read *part; /* [dies + 1]: the page once more, then the others */
	uint8_t **from;            /* … their data */
	struct hz_oob *oob;        /* … their records */
};

struct rebuild_pool {
	struct rebuild *free;
	struct tsu_txn *head, *tail; /* reads waiting for one */
};

static void rebuild_start(struct ftl_worker *self, struct rebuild *rebuild, struct flash_read *read);

static uint32_t page_of(const struct ftl_worker *self, uint32_t i) { return i * self->ftl->page_sectors; }

/* --- end --- */

/* The parity's record has the offset up to which it has the row's units. False: a power cut has kept one of these from being programmed, so
 * the rest of the stripe cannot be rebuilt. */
static HZ_FROZEN bool combine(const struct ftl_worker *self, struct rebuild *rebuild, uint32_t i)
{
	uint64_t end = rebuild->in_memory ? UINT64_MAX : rebuild->oob[page_of(self, rebuild->reads - 1) + i].sequence;

	for (uint32_t r = 1; r < rebuild->reads; r++) {
		uint32_t from = page_of(self, r) + i;

		if (rebuild->part[r].offset >= end)
			continue;
		if (rebuild->oob[from].kind == HZ_OOB_ERASED)
			return false;
		parity_mix(rebuild->memory[i], &rebuild->flags[i], rebuild->from[from], &rebuild->oob[from]);
	}
	return true;
}

/* A sector that can be read, after all or in spite of others of its page, is taken as it is. False: it is lost. */
static HZ_FROZEN bool result_of(const struct ftl_worker *self, struct rebuild *rebuild, uint32_t i)
{
	if (!(rebuild->lost[i] & OWN_LOST)) {
		bulk_copy(rebuild->memory[i], rebuild->from[i], HZ_SECTOR_BYTES);
		rebuild->flags[i] = rebuild->oob[i].flags & HZ_OOB_MARKED;
		return true;
	}
	if (rebuild->lost[i] & OTHER_LOST)
		return false;
	return combine(self, rebuild, i);
}

/* Marked sectors read as zeros. */
static HZ_FROZEN void hand_out(struct rebuild *rebuild, uint32_t i)
{
	struct tsu_txn *txn = &rebuild->read->txn;

	if (rebuild->flags[i])
		txn->status = txn->status == NAND_OK ? NAND_MARKED : txn->status;
	else if (txn->take && !txn->verdict)
		txn->verdict = txn->take(txn, i, rebuild->memory[i]);
	else if (!txn->take && txn->data.memory)
		sgl_write(&txn->data, txn->data_at + i * HZ_SECTOR_BYTES, rebuild->memory[i], HZ_SECTOR_BYTES);
}

/* noinline: registers are saved while the clock stands. */
static __attribute__((noinline)) void answer(struct ftl_worker *self, struct rebuild *rebuild)
{
	struct tsu_txn *txn = &rebuild->read->txn;

	clock_freeze();
	txn->status = NAND_OK;
	txn->verdict = NVME_SUCCESS;
	for (uint32_t i = 0; i < rebuild->sectors; i++) {
		bool there = result_of(self, rebuild, i), own = !(rebuild->lost[i] & OWN_LOST);

		self->counters.rebuilt_reads += there && !own;
		self->counters.rebuild_failures += !there;
		if (there)
			hand_out(rebuild, i);
		else
			txn->status = NAND_UNCORRECTABLE;
	}
	clock_thaw();
}

/* A full zone moves to good cells. Where the whole die is gone there are none: every superblock lies on it. */
static void heal(struct ftl_worker *self, const struct rebuild *rebuild)
{
	struct zone *zone = io_of(rebuild->read->req)->zone;
	struct lt_lock_node node;

	if (!rebuild->record || rebuild->read->txn.status == NAND_UNCORRECTABLE)
		return;
	lt_lock_acquire(&zone->lock, &node);
	if (zone->superblock == rebuild->superblock)
		refresh_rebuilt(self, zone);
	lt_lock_release(&zone->lock, &node);
}

static void rebuild_end(struct ftl_worker *self, struct rebuild *rebuild)
{
	struct rebuild_pool *pool = self->rebuilds;
	struct tsu_txn *waiting;

	flash_read_resume(rebuild->read);
	answer(self, rebuild);
	heal(self, rebuild);
	flash_read_end(self, rebuild->read);
	waiting = pool->head;
	if (waiting) {
		pool->head = waiting->next;
		rebuild_start(self, rebuild, (struct flash_read *)waiting);
	} else {
		rebuild->next = pool->free;
		pool->free = rebuild;
	}
}

/* --- reads --- */

/* Of a row without parity, or of an earlier owner of the superblock. */
static bool is_parity(const struct rebuild *rebuild, const struct hz_oob *oob)
{
	return oob->kind == HZ_OOB_PARITY && oob->generation == io_of(rebuild->read->req)->zone->generation;
}

static void look_at(const struct ftl_worker *self, struct rebuild *rebuild, const struct tsu_txn *txn)
{
	uint32_t number = (uint32_t)((const struct rebuild_read *)txn - rebuild->part);
	const struct hz_oob *oob = &rebuild->oob[page_of(self, number)];
	bool parity = ppa_superblock(self->ftl->map, txn->ppa) != rebuild->superblock;

	for (uint32_t i = 0; i < rebuild->sectors; i++) {
		bool there = txn->status == NAND_OK || (oob[i].kind != HZ_OOB_ERASED && !(oob[i].flags & HZ_OOB_LOST));

		rebuild->record |= !number && !there && oob[i].kind != HZ_OOB_ERASED;
		if (!there || (parity && !is_parity(rebuild, &oob[i])))
			rebuild->lost[i] |= number ? OTHER_LOST : OWN_LOST;
	}
}

static void page_was_read(struct tsu_txn *txn)
{
	struct ftl_worker *self = worker_of(txn);
	struct rebuild *rebuild = ((struct rebuild_read *)txn)->rebuild;
	struct tsu_txn *wanted = &rebuild->read->txn;

	if (txn->status == NAND_POWER_OFF)
		return;
	look_at(self, rebuild, txn);
	if (wanted->end_ns < txn->end_ns) {
		wanted->start_ns = txn->start_ns;
		wanted->cells_end_ns = txn->cells_end_ns;
		wanted->end_ns = txn->end_ns;
	}
	if (--rebuild->pending == 0)
		rebuild_end(self, rebuild);
}

static void add_read(struct ftl_worker *self, struct rebuild *rebuild, ppa_t ppa, uint32_t offset)
{
	uint32_t i = rebuild->reads++;

	rebuild->part[i].rebuild = rebuild;
	rebuild->part[i].offset = offset;
	rebuild->part[i].txn = (struct tsu_txn){
		.owner = &self->thread,
		.done = page_was_read,
		.op = TSU_READ,
		.cause = HZ_CAUSE_HOST,
		.stream = rebuild->read->txn.stream,
		.sectors = (uint16_t)rebuild->sectors,
		.ppa = ppa,
		.data = { &rebuild->from[page_of(self, i)], 0, rebuild->sectors * HZ_SECTOR_BYTES },
		.oob = &rebuild->oob[page_of(self, i)],
	};
	if (i)
		rebuild->part[i - 1].txn.next = &rebuild->part[i].txn;
}

/* Offset in the superblock of the same sectors in another column of the row. */
static uint32_t offset_in(const struct ftl *ftl, const struct rebuild *rebuild, uint32_t column)
{
	return (rebuild->at.row * ftl->shape.superblock_planes + column) * ftl->unit_sectors + rebuild->at.sector;
}

/* Other data of the stripe up to this offset; the parity, unless it is in memory. */
static void add_others(struct ftl_worker *self, struct rebuild *rebuild, uint32_t end)
{
	const struct ftl *ftl = self->ftl;
	const struct flash_addr *column = &ftl->map->column[ftl->map->superblock[rebuild->superblock].column];
	uint32_t planes = ftl->shape.parity_planes;

	for (uint32_t c = 0; c < ftl->shape.superblock_planes; c++) {
		uint32_t offset = offset_in(ftl, rebuild, c);

		if (c != rebuild->at.column && column[c].plane == rebuild->at.plane && offset < end)
			add_read(self, rebuild, ppa_make(ftl->map, rebuild->superblock, offset), offset);
	}
	if (!rebuild->in_memory)
		add_read(self, rebuild,
			 ppa_make(ftl->map, flash_parity_of(ftl->map, rebuild->superblock),
				  (rebuild->at.row * planes + rebuild->at.plane) * ftl->unit_sectors + rebuild->at.sector),
			 0);
}

/* Start with nothing, or with what is in memory of the row. */
static void begin_with(struct rebuild *rebuild)
{
	clock_freeze();
	for (uint32_t i = 0; i < rebuild->sectors; i++) {
		bulk_fill(rebuild->memory[i], 0, HZ_SECTOR_BYTES);
		rebuild->flags[i] = rebuild->lost[i] = 0;
	}
	clock_thaw();
}

static void rebuild_start(struct ftl_worker *self, struct rebuild *rebuild, struct flash_read *read)
{
	struct ftl *ftl = self->ftl;
	struct zone *zone = io_of(read->req)->zone;
	uint32_t end = UINT32_MAX;
	struct lt_lock_node node;

	rebuild->read = read;
	rebuild->superblock = ppa_superblock(ftl->map, read->txn.ppa);
	rebuild->at = flash_stripe_at(ftl->map, rebuild->superblock, ppa_offset(ftl->map, read->txn.ppa));
	rebuild->sectors = read->txn.sectors;
	rebuild->reads = 0;
	rebuild->record = rebuild->in_memory = false;
	begin_with(rebuild);
	lt_lock_acquire(&zone->lock, &node);
	if (zone->superblock == rebuild->superblock &&
	    parity_in_memory(zone, &rebuild->at, rebuild->sectors, rebuild->memory, rebuild->flags)) {
		rebuild->in_memory = true;
		end = zone->placed;
	}
	lt_lock_release(&zone->lock, &node);
	add_read(self, rebuild, read->txn.ppa, 0);
	add_others(self, rebuild, end);
	rebuild->pending = rebuild->reads;
	self->counters.parity_read_sectors += rebuild->reads * rebuild->sectors;
	tsu_submit_list(ftl->tsu, &rebuild->part->txn);
}

bool rebuild_begin(struct ftl_worker *self, struct flash_read *read)
{
	struct rebuild_pool *pool = self->rebuilds;
	struct rebuild *rebuild = pool->free;

	if (ppa_superblock(self->ftl->map, read->txn.ppa) < self->ftl->map->slc_superblocks)
		return false;
	if (!rebuild) {
		read->txn.next = NULL;
		*(pool->head ? &pool->tail->next : &pool->head) = &read->txn;
		pool->tail = &read->txn;
		return true;
	}
	pool->free = rebuild->next;
	rebuild_start(self, rebuild, read);
	return true;
}

/* --- construction --- */

static uint8_t **pages_make(struct arena *arena, uint32_t sectors)
{
	uint8_t **memory = arena_alloc(arena, sectors, sizeof(*memory), "rebuilds");
	uint8_t *data = arena_alloc_data(arena, sectors, HZ_SECTOR_BYTES, "data of rebuilds");

	for (uint32_t i = 0; i < sectors; i++)
		memory[i] = data + (size_t)i * HZ_SECTOR_BYTES;
	return memory;
}

static struct rebuild *rebuild_make(const struct ftl *ftl, struct arena *arena)
{
	uint32_t reads = ftl->shape.planes / ftl->cfg->planes_per_die + 1, page = ftl->page_sectors;
	struct rebuild *rebuild = arena_alloc(arena, 1, sizeof(*rebuild), "rebuilds");

	rebuild->lost = arena_alloc(arena, page, sizeof(*rebuild->lost), "rebuilds");
	rebuild->flags = arena_alloc(arena, page, sizeof(*rebuild->flags), "rebuilds");
	rebuild->memory = pages_make(arena, page);
	rebuild->part = arena_alloc(arena, reads, sizeof(*rebuild->part), "rebuilds");
	rebuild->from = pages_make(arena, reads * page);
	rebuild->oob = arena_alloc(arena, (size_t)reads * page, sizeof(*rebuild->oob), "rebuilds");
	return rebuild;
}

void rebuilds_init(struct ftl_worker *worker, struct arena *arena)
{
	if (!worker->ftl->cfg->rain)
		return;
	worker->rebuilds = arena_alloc(arena, 1, sizeof(*worker->rebuilds), "rebuilds");
	for (unsigned i = 0; i < REBUILDS_PER_WORKER; i++) {
		struct rebuild *rebuild = rebuild_make(worker->ftl, arena);

		rebuild->next = worker->rebuilds->free;
		worker->rebuilds->free = rebuild;
	}
}
