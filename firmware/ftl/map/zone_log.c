/* The zone mapping log: written, checkpointed, replayed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lt/arena.h"
#include "map/l2p.h"
#include "map/zone_map.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

static struct zone_log *log_of(struct ftl *ftl) { return &ftl->l2p->zone_log; }

static uint32_t pages_of(const struct zone_log *log) { return log->tables + HZ_ZONE_LOG_PAGES; }

/* --- writing; lock held --- */

static void page_written(struct slc_write *write);

static void page_write(struct ftl_worker *self, uint32_t page)
{
	struct ftl *ftl = self->ftl;
	struct zone_log *log = log_of(ftl);
	struct slc_write *write = &log->write;

	log->busy = true;
	log->writing = page;
	write->oob[0] = (struct hz_oob){ .sequence = sequence_take(ftl, 1), .lpa = page, .kind = HZ_OOB_MAP, .stream = ZONE_LOG_VERSION };
	write->txn.owner = &self->thread;
	write->stream = SLC_MAP;
	write->cause = HZ_CAUSE_MAP;
	write->done = page_written;
	slc_write(self, write);
}

static void table_write(struct ftl_worker *self, uint32_t page)
{
	struct ftl *ftl = self->ftl;
	uint32_t first = page * HZ_ZONE_ENTRIES_PER_PAGE, count = min_u32(ftl->zone_count - first, HZ_ZONE_ENTRIES_PER_PAGE);

	clock_freeze();
	memset(log_of(ftl)->image, 0xff, HZ_SECTOR_BYTES);
	memcpy(log_of(ftl)->image, &ftl->l2p->zone[first], count * sizeof(struct zone_place));
	clock_thaw();
	self->counters.l2p_table_pages_written++;
	page_write(self, page);
}

/* The table has every change noted until now. */
static void checkpoint_begin(struct ftl_worker *self, struct zone_log *log)
{
	log->changes = 0;
	log->overflow = false;
	table_write(self, 0);
}

static void changes_write(struct ftl_worker *self, struct zone_log *log)
{
	clock_freeze();
	memset(log->image, 0, HZ_SECTOR_BYTES);
	memcpy(log->image, log->change, log->changes * sizeof(*log->change));
	clock_thaw();
	log->changes = 0;
	self->counters.l2p_flushes++;
	page_write(self, log->tables + log->next++);
}

static void log_write(struct ftl_worker *self, struct zone_log *log)
{
	if (log->busy || log->lost || (!log->overflow && log->changes < self->ftl->cfg->l2p_zone_log))
		return;
	if (log->overflow || log->next == HZ_ZONE_LOG_PAGES)
		checkpoint_begin(self, log);
	else
		changes_write(self, log);
}

static void replace_page(struct ftl_worker *self, struct zone_log *log, ppa_t ppa)
{
	ppa_t old = log->ppa[log->writing];

	log->ppa[log->writing] = ppa;
	slc_validate(self->ftl, ppa, 1, log->tag - log->writing);
	if (old != PPA_NONE)
		slc_invalidate(self, &old, 1);
}

/* The checkpoint is complete: log pages before it say nothing new. */
static void checkpoint_end(struct ftl_worker *self, struct zone_log *log)
{
	for (uint32_t i = log->tables; i < pages_of(log); i++) {
		if (log->ppa[i] != PPA_NONE)
			slc_invalidate(self, &log->ppa[i], 1);
		log->ppa[i] = PPA_NONE;
	}
	log->next = 0;
}

static void page_written(struct slc_write *write)
{
	struct ftl_worker *self = worker_of(&write->txn);
	struct zone_log *log = log_of(self->ftl);
	struct lt_lock_node node;

	lt_lock_acquire(&log->lock, &node);
	if (write->ppa == PPA_NONE) {
		log->lost = true;
	} else {
		replace_page(self, log, write->ppa);
		if (log->writing + 1 < log->tables) {
			table_write(self, log->writing + 1);
			lt_lock_release(&log->lock, &node);
			return;
		}
		if (log->writing + 1 == log->tables)
			checkpoint_end(self, log);
	}
	log->busy = false;
	log_write(self, log);
	lt_lock_release(&log->lock, &node);
}

void zone_log_note(struct ftl_worker *self, const struct zone *zone, struct zone_place place, bool logged)
{
	struct ftl *ftl = self->ftl;
	struct zone_log *log = log_of(ftl);
	struct lt_lock_node node;

	lt_lock_acquire(&log->lock, &node);
	ftl->l2p->zone[zone->index] = place;
	if (logged && log->changes == HZ_ZONE_CHANGES_PER_PAGE)
		log->overflow = true;
	else if (logged)
		log->change[log->changes++] = (struct zone_change){
			.sequence = lt_load(&ftl->sequence), .zone = zone->index, .start = place.start, .length = place.length
		};
	if (logged)
		log_write(self, log);
	lt_lock_release(&log->lock, &node);
}

/* --- mount --- */

/* The collector leaves equal copies. */
void zone_log_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa)
{
	struct zone_log *log = log_of(ftl);

	if (oob->kind != HZ_OOB_MAP || oob->stream != ZONE_LOG_VERSION || oob->flags & HZ_OOB_LOST || oob->lpa >= pages_of(log))
		return;
	if (log->ppa[oob->lpa] != PPA_NONE && log->sequence[oob->lpa] >= oob->sequence)
		return;
	log->ppa[oob->lpa] = ppa;
	log->sequence[oob->lpa] = oob->sequence;
}

/* An unreadable page counts as never written. */
static bool page_read(struct ftl *ftl, uint32_t page)
{
	struct zone_log *log = log_of(ftl);
	struct sgl data = { &log->image, 0, HZ_SECTOR_BYTES };

	if (log->ppa[page] != PPA_NONE && tsu_read_now(ftl->tsu, log->ppa[page], 1, &data, 0, NULL) != NAND_OK)
		log->ppa[page] = PPA_NONE;
	return log->ppa[page] != PPA_NONE;
}

static void learn(struct ftl *ftl, uint32_t zone, struct zone_place place, uint64_t sequence)
{
	struct zone_log *log = log_of(ftl);

	if (zone >= ftl->zone_count || sequence < log->since[zone])
		return;
	ftl->l2p->zone[zone] = place;
	log->since[zone] = sequence;
}

static void replay_table(struct ftl *ftl, uint32_t page)
{
	const struct zone_place *place = (const struct zone_place *)log_of(ftl)->image;

	for (uint32_t i = 0; i < HZ_ZONE_ENTRIES_PER_PAGE; i++)
		learn(ftl, page * HZ_ZONE_ENTRIES_PER_PAGE + i, place[i], log_of(ftl)->sequence[page]);
}

static void replay_changes(struct ftl *ftl)
{
	const struct zone_change *change = (const struct zone_change *)log_of(ftl)->image;

	for (uint32_t i = 0; i < HZ_ZONE_CHANGES_PER_PAGE && change[i].sequence; i++)
		learn(ftl, change[i].zone, (struct zone_place){ change[i].start, change[i].length }, change[i].sequence);
}

/* A log page older than the last complete checkpoint; the youngest is the checkpoint's last page. */
static bool obsolete(const struct zone_log *log, uint32_t page)
{
	return page >= log->tables && log->sequence[page] < log->sequence[log->tables - 1];
}

void zone_log_replay(struct ftl *ftl)
{
	struct zone_log *log = log_of(ftl);

	for (uint32_t page = 0; page < pages_of(log); page++) {
		if (obsolete(log, page))
			log->ppa[page] = PPA_NONE;
		if (!page_read(ftl, page))
			continue;
		slc_validate(ftl, log->ppa[page], 1, log->tag - page);
		if (page < log->tables) {
			replay_table(ftl, page);
		} else {
			replay_changes(ftl);
			log->next = page - log->tables + 1;
		}
	}
}

bool zone_log_knows(const struct ftl *ftl, const struct zone *zone, uint32_t superblock, uint64_t sequence)
{
	const struct zone_place *place = &ftl->l2p->zone[zone->index];

	return place->length == zone->capacity && place->start == ppa_make(ftl->map, superblock, 0) &&
	       sequence < ftl->l2p->zone_log.since[zone->index];
}

/* --- owner of its sectors --- */

static bool page_lies_at(struct ftl *ftl, uint32_t tag, ppa_t ppa) { return log_of(ftl)->ppa[log_of(ftl)->tag - tag] == ppa; }

static void page_moved(struct ftl_worker *self, uint32_t tag, ppa_t from, ppa_t to)
{
	struct ftl *ftl = self->ftl;
	struct lt_lock_node node;

	lt_lock_acquire(&log_of(ftl)->lock, &node);
	if (page_lies_at(ftl, tag, from)) {
		log_of(ftl)->ppa[log_of(ftl)->tag - tag] = to;
		slc_move(ftl, from, to);
	}
	lt_lock_release(&log_of(ftl)->lock, &node);
}

static void write_make(struct ftl *ftl, struct arena *arena, struct zone_log *log)
{
	uint32_t unit = ftl->cfg->slc_program_sectors;

	log->image = arena_alloc(arena, 1, HZ_SECTOR_BYTES, "page of the zone mapping log");
	log->write.memory = arena_alloc(arena, unit, sizeof(uint8_t *), "zone mapping log");
	log->write.oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "zone mapping log");
	log->write.memory[0] = log->image;
	for (uint32_t i = 1; i < unit; i++) {
		log->write.memory[i] = ftl->zero_sector;
		log->write.oob[i].kind = HZ_OOB_PAD;
	}
}

void zone_log_init(struct ftl *ftl, struct arena *arena)
{
	struct zone_log *log = log_of(ftl);

	lt_lock_init(&log->lock, HZ_LC_L2P, ftl->l2p->shards + (ftl->cfg->l2p_cache_bytes ? 4 : 1));
	log->tag = slc_map_tag(ftl->l2p->table.all);
	log->tables = hz_zone_map_pages(&ftl->shape);
	log->change = arena_alloc(arena, HZ_ZONE_CHANGES_PER_PAGE, sizeof(*log->change), "zone mapping log");
	log->ppa = arena_alloc(arena, pages_of(log), sizeof(*log->ppa), "pages of the zone mapping log");
	log->sequence = arena_alloc(arena, pages_of(log), sizeof(*log->sequence), "pages of the zone mapping log");
	log->since = arena_alloc(arena, ftl->zone_count, sizeof(*log->since), "ages of the zone mapping table");
	for (uint32_t i = 0; i < pages_of(log); i++)
		log->ppa[i] = PPA_NONE;
	write_make(ftl, arena, log);
	slc_own(ftl->slc, SLC_OWNS_ZONE_LOG,
		(struct slc_owner){
			.first = log->tag - (pages_of(log) - 1), .last = log->tag, .moved = page_moved, .lies_at = page_lies_at });
}
