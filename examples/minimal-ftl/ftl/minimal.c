/* A page-mapped FTL for a block namespace, with one lock (docs/guide/own-ftl.md).
 *
 * Every LBA has a word in one map, which says where its sector is. A sector that the host writes lands in a buffer: memory for one row of
 * the open block, a program unit on each of its planes. Complete units are programmed, and their words become flash addresses. An
 * overwritten sector stays in its block until the collector takes the block with the fewest valid sectors, moves these through a buffer of
 * its own, and erases it. A block here is a superblock of the device. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/arena.h"
#include "lt/lock.h"
#include "lt/logical.h"
#include "port/crew.h"
#include "tsu/tsu_mount.h"

/* A word of the map: NOWHERE, a flash address, or IN_MEMORY with the number of a buffer and, in SECTOR_BITS, of its sector. */
#define NOWHERE UINT32_MAX
#define IN_MEMORY 0x80000000u
enum { SECTOR_BITS = 18 };

struct block {
	struct block *next; /* free list */
	ppa_t first;        /* its first sector */
	uint32_t valid;     /* sectors of it that the map names, those still in memory among them */
	uint32_t rows_left; /* not yet programmed */
	bool full;          /* all of it is programmed, and it is no victim */
};

struct program {
	struct tsu_txn txn; /* first */
	struct buffer *buffer;
};
struct buffer {
	struct block *block;              /* whose row it holds; NULL: it is free */
	struct buffer *next;              /* free list */
	ppa_t place;                      /* of its first sector */
	uint32_t word;                    /* … of the map, while it is in memory */
	uint32_t filled;                  /* sectors, padding among them */
	uint32_t complete, sent, pending; /* units: filled; handed to the TSU; of those, not yet programmed */
	uint8_t **memory;                 /* by sector: its data; its record, with its LBA; the map's word until it is programmed */
	struct hz_oob *oob;
	uint32_t *was;
	struct program *program;   /* by unit */
	struct crew_queue flushes; /* wait until none is pending */
};

/* A block whose rows are given to buffers. */
struct open {
	struct block *block; /* or NULL */
	uint32_t row;        /* its next one */
};

struct ftl {
	const struct hz_device_config *cfg;
	const struct flash_map *flash;
	struct tsu *tsu;
	struct link_pair *links;
	struct hz_shape shape;
	uint32_t blocks, rows, buffers; /* rows: of a block; buffers: the host's */
	ppa_t first;                    /* flash address */
	struct crew crew;

	struct lt_lock lock; /* all that follows */
	uint32_t *map;       /* by LBA */
	uint32_t *lba_at;    /* by flash address from `first` on: the LBA last programmed there */
	struct block *block, *free;
	struct open open[2]; /* the host's and the collector's: their rows are programmed in order */
	uint32_t free_count;
	struct buffer *buffer;     /* the host's, then the collector's */
	struct buffer *spare;      /* free ones of the host */
	struct buffer *filling;    /* or NULL */
	struct crew_queue writers; /* writes that have not landed */
	struct block *victim;      /* or NULL */
	uint32_t at;               /* the victim's sectors before this one have been read */
	uint32_t moves;            /* reads or erases of the collector that are under way */
	struct tsu_txn *transaction;
};

/* The FTL's part of a request. */
struct io {
	uint32_t done;   /* sectors that have landed, or are on their way to the host */
	uint32_t buffer; /* a flush: the one that it waits for */
};

static inline struct io *io_of(struct ftl_request *req) { return (struct io *)crew_work(req); }
static inline struct buffer *buffer_of(struct ftl *ftl, uint32_t word) { return &ftl->buffer[(word & ~IN_MEMORY) >> SECTOR_BITS]; }
static inline struct buffer *collectors(struct ftl *ftl) { return &ftl->buffer[ftl->buffers]; }
static void flash_done(struct tsu_txn *txn);

/* The map. From here to flash_done the lock is held, but where it says otherwise. */

static struct block *block_of(struct ftl *ftl, uint32_t word)
{
	return word & IN_MEMORY ? buffer_of(ftl, word)->block : &ftl->block[(word - ftl->first) >> ftl->flash->superblock_shift];
}

static void remap(struct ftl *ftl, uint32_t lba, uint32_t word)
{
	if (ftl->map[lba] != NOWHERE)
		block_of(ftl, ftl->map[lba])->valid--;
	block_of(ftl, word)->valid++;
	if (!(word & IN_MEMORY))
		ftl->lba_at[word - ftl->first] = lba;
	ftl->map[lba] = word;
}

/* Length of the run of consecutive addresses of one page at the beginning of these words, at most `most`. */
static uint32_t run_of(const struct ftl *ftl, const uint32_t *word, uint32_t most)
{
	uint32_t run = 1;

	while (run < most && word[run] == word[0] + run && ppa_offset(ftl->flash, word[run]) & (ftl->shape.page_sectors - 1))
		run++;
	return run;
}

/* Blocks and buffers. */

static void block_freed(struct ftl *ftl, struct block *block)
{
	block->next = ftl->free;
	ftl->free = block;
	ftl->free_count++;
}

/* The last free block is the collector's: what is valid in a victim fits into the rest of its open block and one more. */
static bool buffer_begun(struct ftl *ftl, struct buffer *buffer)
{
	struct open *open = &ftl->open[buffer == collectors(ftl)];

	if (!open->block && ftl->free_count <= (buffer == collectors(ftl) ? 0 : 1))
		return false;
	if (!open->block) {
		*open = (struct open){ .block = ftl->free };
		ftl->free = ftl->free->next;
		ftl->free_count--;
		open->block->rows_left = ftl->rows;
	}
	buffer->block = open->block;
	buffer->place = open->block->first + open->row * ftl->shape.superpage_sectors;
	buffer->filled = buffer->complete = buffer->sent = 0;
	for (uint32_t unit = 0; unit < ftl->shape.superblock_planes; unit++)
		buffer->program[unit].txn.not_before_ns = 0;
	if (++open->row == ftl->rows)
		open->block = NULL;
	return true;
}

static void buffer_freed(struct ftl *ftl, struct buffer *buffer)
{
	buffer->block = NULL;
	if (buffer == collectors(ftl))
		return;
	buffer->next = ftl->spare;
	ftl->spare = buffer;
}

static void buffer_takes(struct buffer *buffer, uint32_t lba, uint32_t was)
{
	buffer->was[buffer->filled] = was;
	buffer->oob[buffer->filled++] = (struct hz_oob){ .kind = HZ_OOB_DATA, .lpa = lba };
}

/* After sectors have been filled in: complete units are programmed, in groups that share dies. all: at once, the last one padded. */
static void buffer_goes_on(struct crew_worker *self, struct buffer *buffer, bool all)
{
	struct ftl *ftl = self->crew->ftl;
	uint32_t unit = ftl->shape.unit_sectors, end = buffer->sent;
	struct tsu_txn *first = NULL, **link = &first;

	while (all && buffer->filled > buffer->complete * unit && buffer->filled < (buffer->complete + 1) * unit)
		buffer->oob[buffer->filled++] = (struct hz_oob){ .kind = HZ_OOB_PAD };
	while (buffer->filled >= (buffer->complete + 1) * unit)
		buffer->complete++;
	while (buffer->complete - end >= ftl->cfg->flush_unit_planes)
		end += ftl->cfg->flush_unit_planes;
	if (all || buffer->complete == ftl->shape.superblock_planes)
		end = buffer->complete;
	for (; buffer->sent < end; buffer->sent++, buffer->pending++, link = &(*link)->next) {
		*link = &buffer->program[buffer->sent].txn;
		(*link)->next = NULL;
		(*link)->owner = &self->thread;
		(*link)->ppa = buffer->place + buffer->sent * unit;
	}
	if (first)
		tsu_submit_list(ftl->tsu, first);
}

/* Reads. */

static void read_at_once(struct ftl *ftl, struct ftl_request *req, uint32_t i, uint32_t word)
{
	if (word == NOWHERE)
		sgl_zero(&req->sgl, i * HZ_SECTOR_BYTES, HZ_SECTOR_BYTES);
	else
		sgl_write(&req->sgl, i * HZ_SECTOR_BYTES, buffer_of(ftl, word)->memory[word & ((1u << SECTOR_BITS) - 1)], HZ_SECTOR_BYTES);
	crew_ready(req, link_transfer(&ftl->links->to_host, clock_now_ns(), HZ_SECTOR_BYTES));
}

/* The TSU has each read before the lock is given back, and so before any erase that a later change of the map leads to. */
static void read_run(struct crew_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->crew->ftl;
	const uint32_t *word = &ftl->map[req->lba];
	struct tsu_txn *list = NULL;
	struct io *io = io_of(req);
	uint32_t run;

	for (; io->done < req->sectors && (word[io->done] & IN_MEMORY || crew_may_read(self)); io->done += run) {
		run = word[io->done] & IN_MEMORY ? 1 : run_of(ftl, &word[io->done], req->sectors - io->done);
		if (word[io->done] & IN_MEMORY)
			read_at_once(ftl, req, io->done, word[io->done]);
		else
			list = crew_read(self, req, word[io->done], run, io->done, list);
	}
	if (list)
		tsu_submit_list(ftl->tsu, list);
	if (io->done < req->sectors) {
		crew_read_waits(self, req);
		return;
	}
	self->counters.host_read_sectors += req->sectors;
	crew_reads_begun(req);
}

/* Flushes, and the end of writes with FTL_FUA. */

/* A buffer that it has passed has nothing older than the flush any more. */
static void flush_on(struct ftl *ftl, struct ftl_request *req)
{
	struct io *io = io_of(req);

	while (io->buffer < ftl->buffers && !ftl->buffer[io->buffer].pending)
		io->buffer++;
	if (io->buffer < ftl->buffers)
		crew_push(&ftl->buffer[io->buffer].flushes, req);
	else
		crew_complete(req, NVME_SUCCESS);
}

static void flush_begun(struct crew_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->crew->ftl;

	if (ftl->filling)
		buffer_goes_on(self, ftl->filling, true);
	flush_on(ftl, req);
}

/* Writes. */

static struct buffer *buffer_with_room(struct ftl *ftl)
{
	if (ftl->filling && ftl->filling->filled < ftl->shape.superpage_sectors)
		return ftl->filling;
	ftl->filling = ftl->spare && buffer_begun(ftl, ftl->spare) ? ftl->spare : NULL;
	if (ftl->filling)
		ftl->spare = ftl->filling->next;
	return ftl->filling;
}

static void sectors_land(struct ftl *ftl, struct ftl_request *req, struct buffer *buffer, uint32_t sectors)
{
	uint64_t end_ns = link_transfer(&ftl->links->to_device, clock_now_ns(), sectors * HZ_SECTOR_BYTES);
	struct io *io = io_of(req);

	crew_ready(req, end_ns);
	for (; sectors > 0; sectors--, io->done++) {
		uint32_t lba = (uint32_t)req->lba + io->done, word = buffer->word | buffer->filled;

		sgl_read(&req->sgl, io->done * HZ_SECTOR_BYTES, buffer->memory[buffer->filled], HZ_SECTOR_BYTES);
		buffer_takes(buffer, lba, word);
		remap(ftl, lba, word);
	}
	for (uint32_t unit = buffer->complete; unit * ftl->shape.unit_sectors < buffer->filled; unit++)
		buffer->program[unit].txn.not_before_ns = end_ns;
}

/* False: it waits for room. */
static bool landed(struct crew_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->crew->ftl;
	uint32_t rest, room;

	while ((rest = req->sectors - io_of(req)->done) > 0) {
		struct buffer *buffer = buffer_with_room(ftl);

		if (!buffer)
			return false;
		room = ftl->shape.superpage_sectors - buffer->filled;
		sectors_land(ftl, req, buffer, rest < room ? rest : room);
		buffer_goes_on(self, buffer, false);
	}
	return true;
}

static void writers_go_on(struct crew_worker *self)
{
	struct crew_queue *writers = &((struct ftl *)self->crew->ftl)->writers;

	while (writers->head && landed(self, writers->head)) {
		struct ftl_request *req = crew_pop(writers);

		lt_logical_wait_ended(req);
		self->counters.host_write_sectors += req->sectors;
		if (req->flags & FTL_FUA)
			flush_begun(self, req);
		else
			crew_complete(req, NVME_SUCCESS);
	}
}

static void write_run(struct crew_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->crew->ftl;

	crew_push(&ftl->writers, req);
	writers_go_on(self);
	if (!ftl->writers.head)
		return;
	lt_logical_wait(HZ_LOGICAL_BUFFER, 0, req); /* this one, the last, waits */
	self->counters.conventional_stalls++;
}

/* The collector. */

/* The full block with the fewest valid sectors; it gives back a unit at least, else moving it would be in vain. */
static bool victim_there(struct crew_worker *self)
{
	struct ftl *ftl = self->crew->ftl;
	uint32_t fewest = ftl->shape.superblock_sectors - ftl->shape.unit_sectors + 1;

	if (ftl->victim || ftl->free_count >= ftl->cfg->conventional_gc_low)
		return ftl->victim;
	for (struct block *block = ftl->block; block < ftl->block + ftl->blocks; block++)
		if (block->full && block->valid < (ftl->victim ? ftl->victim->valid : fewest))
			ftl->victim = block;
	if (!ftl->victim)
		return false;
	ftl->victim->full = false;
	ftl->at = 0;
	self->counters.conventional_gc_runs++;
	return true;
}

static struct tsu_txn *move_begun(struct crew_worker *self, enum tsu_op op, ppa_t ppa, struct tsu_txn *next)
{
	struct ftl *ftl = self->crew->ftl;
	struct tsu_txn *txn = &ftl->transaction[ftl->moves++];

	*txn = (struct tsu_txn){ .next = next, .owner = &self->thread, .done = flash_done, .op = op, .cause = HZ_CAUSE_GC, .ppa = ppa };
	return txn;
}

/* The next valid sectors of the victim, as many as the buffer has room for. Until they are programmed the map names their old places. */
static void moves_read(struct crew_worker *self, struct buffer *buffer)
{
	struct ftl *ftl = self->crew->ftl;
	uint32_t i = buffer->filled, run;
	struct tsu_txn *list = NULL;

	for (; ftl->at < ftl->shape.superblock_sectors && buffer->filled < ftl->shape.superpage_sectors; ftl->at++) {
		uint32_t place = ftl->victim->first + ftl->at, lba = ftl->lba_at[place - ftl->first];

		if (ftl->map[lba] == place)
			buffer_takes(buffer, lba, place);
	}
	for (; i < buffer->filled; i += run) {
		run = run_of(ftl, &buffer->was[i], buffer->filled - i);
		list = move_begun(self, TSU_READ, buffer->was[i], list);
		list->sectors = (uint16_t)run;
		list->data = (struct sgl){ buffer->memory, 0, ftl->shape.superpage_sectors * HZ_SECTOR_BYTES };
		list->data_at = i * HZ_SECTOR_BYTES;
		self->counters.conventional_gc_sectors += run;
	}
	if (list)
		tsu_submit_list(ftl->tsu, list);
}

/* The erase of each plane follows all reads of it that the TSU has. */
static void victim_erased(struct crew_worker *self)
{
	struct ftl *ftl = self->crew->ftl;
	struct tsu_txn *list = NULL;

	for (uint32_t plane = 0; plane < ftl->shape.superblock_planes; plane++)
		list = move_begun(self, TSU_ERASE, ftl->victim->first + plane * ftl->shape.unit_sectors, list);
	tsu_submit_list(ftl->tsu, list);
}

/* One step further, if nothing of it is under way: reads, then programs, until the victim has no more; then its erase. */
static void collect(struct crew_worker *self)
{
	struct ftl *ftl = self->crew->ftl;
	struct buffer *buffer = collectors(ftl);

	if (ftl->moves || !victim_there(self))
		return;
	if (ftl->at < ftl->shape.superblock_sectors && ftl->victim->valid) {
		if (buffer->block ? buffer->filled == ftl->shape.superpage_sectors : !buffer_begun(ftl, buffer))
			return;
		moves_read(self, buffer);
	}
	if (ftl->moves)
		return;
	buffer_goes_on(self, buffer, true);
	if (!buffer->pending)
		victim_erased(self);
}

/* Ends of programs, and of the collector's reads and erases. */

static void program_ends(struct ftl *ftl, const struct program *program)
{
	struct buffer *buffer = program->buffer;
	uint32_t at = program->txn.ppa - buffer->place;

	for (uint32_t i = at; i < at + ftl->shape.unit_sectors; i++) /* what was written again meanwhile has another word */
		if (buffer->oob[i].kind == HZ_OOB_DATA && ftl->map[buffer->oob[i].lpa] == buffer->was[i])
			remap(ftl, buffer->oob[i].lpa, buffer->place + i);
	if (--buffer->pending)
		return;
	if (buffer->sent == ftl->shape.superblock_planes) {
		buffer->block->full = --buffer->block->rows_left == 0;
		buffer_freed(ftl, buffer);
	}
	while (buffer->flushes.head)
		flush_on(ftl, crew_pop(&buffer->flushes));
}

/* A sector that cannot be read stays so at its new place. */
static void read_ends(struct crew_worker *self, const struct tsu_txn *txn)
{
	struct ftl *ftl = self->crew->ftl;

	for (uint32_t i = 0; txn->status != NAND_OK && i < txn->sectors; i++)
		collectors(ftl)->oob[txn->data_at / HZ_SECTOR_BYTES + i].flags = HZ_OOB_LOST;
	if (--ftl->moves == 0)
		buffer_goes_on(self, collectors(ftl), false);
}

static void flash_done(struct tsu_txn *txn)
{
	struct crew_worker *self = crew_worker_of(txn);
	struct ftl *ftl = self->crew->ftl;
	struct lt_lock_node node;

	if (txn->status == NAND_POWER_OFF)
		return;
	if (txn->status != NAND_OK && txn->op != TSU_READ)
		lt_fail("minimal FTL: a program or an erase failed");
	lt_lock_acquire(&ftl->lock, &node);
	switch (txn->op) {
	case TSU_PROGRAM: program_ends(ftl, (struct program *)txn); break;
	case TSU_READ: read_ends(self, txn); break;
	default:
		if (--ftl->moves > 0)
			break;
		block_freed(ftl, ftl->victim);
		ftl->victim = NULL;
	}
	writers_go_on(self);
	collect(self);
	lt_lock_release(&ftl->lock, &node);
}

static void run(struct crew_worker *self, struct ftl_request *req)
{
	struct ftl *ftl = self->crew->ftl;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->lock, &node);
	switch (req->op) {
	case FTL_READ: read_run(self, req); break;
	case FTL_WRITE: write_run(self, req); break;
	case FTL_FLUSH: flush_begun(self, req); break;
	default: crew_complete(req, NVME_INVALID_OPCODE | NVME_DNR);
	}
	collect(self);
	lt_lock_release(&ftl->lock, &node);
}

/* Construction. */

static const char *unfit(const struct hz_device_config *cfg)
{
	if (cfg->namespace_kind != HZ_NS_BLOCK || cfg->fdp_handles || cfg->conventional_collectors > 1)
		return "the minimal FTL has block namespaces only, one collector and no handles: set zones.namespace: block, and leave out conventional.collectors and fdp";
	if (cfg->conventional_region || cfg->conventional_streams > 1 || cfg->conventional_frontiers > 1 || cfg->conventional_gc)
		return "the minimal FTL has one open block of normal flash, and collects greedily: leave out conventional.region, streams, frontiers and gc";
	if (cfg->l2p_cache_bytes || cfg->data_cache_bytes || cfg->buffer_pool_bytes || cfg->buffer_idle_ns || cfg->routing ||
	    cfg->protection || cfg->plp_mode || cfg->refresh_reads || cfg->refresh_hours || cfg->refresh_wear || cfg->in_place_sectors)
		return "the minimal FTL does not know l2p.cache, data_cache, buffers.pool and idle, harts.routing, protection, plp, refresh and in_place: leave them out";
	if (cfg->program_fail_ppb || cfg->erase_fail_ppb || cfg->factory_bad_ppb || cfg->failed_die || cfg->fail_program_at ||
	    cfg->fail_erase_at || cfg->normal.endurance)
		return "the minimal FTL retires no blocks: leave out faults of programs and erases, bad blocks and timing.normal.endurance";
	return NULL;
}

/* When the host waits for a block, one is free, one the collector's, and the rest full: enough if a victim must be among that. */
static const char *facts_init(struct ftl *ftl)
{
	hz_shape_of(ftl->cfg, &ftl->shape);
	ftl->blocks = ftl->shape.backing_zones;
	ftl->rows = ftl->shape.superblock_sectors / ftl->shape.superpage_sectors;
	ftl->buffers = ftl->cfg->conventional_buffers;
	ftl->first = ppa_make(ftl->flash, ftl->flash->slc_superblocks, 0);
	if (ftl->shape.namespace_sectors / (ftl->shape.superblock_sectors - ftl->shape.unit_sectors + 1) + 2 >= ftl->blocks)
		return "the minimal FTL needs more blocks to collect: raise conventional.spare_superblocks";
	return NULL;
}

static void buffer_init(struct ftl *ftl, struct arena *arena, struct buffer *buffer)
{
	uint32_t sectors = ftl->shape.superpage_sectors, unit = ftl->shape.unit_sectors;
	uint8_t *memory = arena_alloc_data(arena, sectors, HZ_SECTOR_BYTES, "buffers");

	buffer->word = IN_MEMORY | (uint32_t)(buffer - ftl->buffer) << SECTOR_BITS;
	buffer->memory = arena_alloc(arena, sectors, sizeof(*buffer->memory), "buffers");
	buffer->oob = arena_alloc(arena, sectors, sizeof(*buffer->oob), "buffers");
	buffer->was = arena_alloc(arena, sectors, sizeof(*buffer->was), "buffers");
	buffer->program = arena_alloc(arena, ftl->shape.superblock_planes, sizeof(*buffer->program), "programs");
	for (uint32_t i = 0; i < sectors; i++)
		buffer->memory[i] = memory + i * HZ_SECTOR_BYTES;
	for (uint32_t i = 0; i < ftl->shape.superblock_planes; i++) {
		struct tsu_txn txn = { .done = flash_done, .op = TSU_PROGRAM, .sectors = (uint16_t)unit, .oob = &buffer->oob[i * unit] };

		txn.cause = buffer == collectors(ftl) ? HZ_CAUSE_GC : HZ_CAUSE_HOST;
		txn.data = (struct sgl){ buffer->memory, 0, sectors * HZ_SECTOR_BYTES };
		txn.data_at = i * unit * HZ_SECTOR_BYTES;
		buffer->program[i] = (struct program){ txn, buffer };
	}
	buffer_freed(ftl, buffer);
}

static void flash_init(struct ftl *ftl, struct arena *arena)
{
	uint32_t shift = ftl->flash->superblock_shift;

	ftl->map = arena_alloc_table(arena, ftl->shape.namespace_sectors, sizeof(*ftl->map), "map");
	for (uint64_t lba = 0; lba < ftl->shape.namespace_sectors; lba++)
		ftl->map[lba] = NOWHERE;
	ftl->lba_at = arena_alloc_table(arena, (size_t)ftl->blocks << shift, sizeof(*ftl->lba_at), "LBAs by place");
	ftl->block = arena_alloc(arena, ftl->blocks, sizeof(*ftl->block), "blocks");
	for (uint32_t i = ftl->blocks; i-- > 0;) {
		ftl->block[i].first = ftl->first + (i << shift);
		block_freed(ftl, &ftl->block[i]);
	}
	ftl->buffer = arena_alloc(arena, ftl->buffers + 1, sizeof(*ftl->buffer), "buffers");
	for (uint32_t i = 0; i <= ftl->buffers; i++)
		buffer_init(ftl, arena, &ftl->buffer[i]);
	ftl->transaction = arena_alloc(arena, ftl->shape.superpage_sectors, sizeof(*ftl->transaction), "moves");
}

static const char *not_new(struct ftl *ftl)
{
	for (uint32_t b = 0; b < ftl->blocks; b++)
		for (uint32_t plane = 0; plane < ftl->shape.superblock_planes; plane++)
			if (tsu_block_now(ftl->tsu, ftl->block[b].first + plane * ftl->shape.unit_sectors)->write_sector)
				return "the minimal FTL keeps its map in RAM only, so it starts on a new image: this one has been written to";
	return NULL;
}

struct ftl *ftl_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct tsu *tsu,
		     struct link_pair *links, const char **error)
{
	struct ftl *ftl;

	arena->owner = "FTL";
	ftl = arena_alloc(arena, 1, sizeof(*ftl), "FTL");
	*ftl = (struct ftl){ .cfg = cfg, .flash = map, .tsu = tsu, .links = links };
	if ((*error = unfit(cfg)) || (*error = facts_init(ftl)))
		return NULL;
	lt_lock_init(&ftl->lock, HZ_LC_L2P, 0);
	crew_init(&ftl->crew, arena, cfg, links, ftl, run);
	flash_init(ftl, arena);
	*error = not_new(ftl);
	tsu_mounted(tsu);
	return *error ? NULL : ftl;
}

/* The rest of the port. */

void ftl_submit(struct ftl *ftl, unsigned worker, struct ftl_request *req) { crew_submit(&ftl->crew, worker, req); }
void ftl_publish(struct ftl *ftl) { crew_publish(&ftl->crew); }
void ftl_published(struct ftl *ftl, struct hz_log_ftl *out) { crew_published(&ftl->crew, out); }

const char *ftl_check(struct ftl *ftl)
{
	for (uint64_t lba = 0; lba < ftl->shape.namespace_sectors; lba++)
		if (!(ftl->map[lba] & IN_MEMORY) && ftl->lba_at[ftl->map[lba] - ftl->first] != lba)
			return "the place of an LBA is noted for another one";
	for (struct block *block = ftl->block; block < ftl->block + ftl->blocks; block++) {
		uint32_t valid = 0;

		for (uint32_t place = block->first; place < block->first + ftl->shape.superblock_sectors; place++)
			valid += ftl->map[ftl->lba_at[place - ftl->first]] == place;
		if (block->full && valid != block->valid)
			return "a block has another number of valid sectors than it counts";
	}
	return NULL;
}
