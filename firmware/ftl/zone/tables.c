/* Zone table and trims on flash: saved, and found at mount. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/tables.h"

#include "lt/arena.h"
#include "map/l2p.h"
#include "places/places.h"
#include "places/trims.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"
#include "zone/zone.h"
#include "zone/zrwa.h"

/* Zone records on flash. */

static void write_init(struct ftl *ftl, struct arena *arena, struct table_page *page, struct slc_write *write)
{
	uint32_t unit = ftl->cfg->slc_program_sectors;

	write->memory = arena_alloc(arena, unit, sizeof(uint8_t *), "zone table lists");
	write->oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "zone table OOB");
	write->memory[0] = page->image;
	for (uint32_t s = 1; s < unit; s++) {
		write->memory[s] = ftl->zero_sector;
		write->oob[s].kind = HZ_OOB_PAD;
	}
}

static void copy_written(struct slc_write *write);

/* Table lock held, page not up to date. Both copies at a time: they lie on different planes, unless the device has one only. */
static void table_page_write(struct ftl_worker *self, uint32_t index)
{
	struct ftl *ftl = self->ftl;
	struct table_page *page = &ftl->table->page[index];
	uint64_t sequence = sequence_take(ftl, 1);

	ftl->table->busy += !page->busy;
	page->busy = true;
	page->writing = page->wanted;
	page->pending = ZONE_TABLE_COPIES;
	page->reached = page->tries = 0;
	clock_freeze();
	memcpy(page->image, &ftl->table->record[index * ZONE_RECORDS_PER_PAGE], HZ_SECTOR_BYTES);
	clock_thaw();
	for (unsigned c = 0; c < ZONE_TABLE_COPIES; c++) {
		struct slc_write *write = &page->write[c];

		write->oob[0] = (struct hz_oob){ .sequence = sequence,
						 .lpa = index,
						 .generation = ftl->table->number,
						 .kind = HZ_OOB_ZONE_TABLE,
						 .stream = ZONE_TABLE_VERSION };
		write->txn.owner = &self->thread;
		write->stream = SLC_MAP;
		write->cause = HZ_CAUSE_MAP;
		write->context = page;
		write->done = copy_written;
		slc_write(self, write);
	}
}

/* Table lock held. */
static void replace_copy(struct ftl_worker *self, struct table_page *page, const struct slc_write *write)
{
	unsigned copy = (unsigned)(write - page->write);
	ppa_t old = page->ppa[copy];

	if (write->ppa == PPA_NONE)
		return;
	page->reached++;
	page->ppa[copy] = write->ppa;
	slc_validate(self->ftl, write->ppa, 1, slc_table_tag((uint32_t)(page - self->ftl->table->page) * ZONE_TABLE_COPIES + copy));
	if (old != PPA_NONE)
		slc_invalidate(self, &old, 1);
}

/* The copies are on flash; if none is, the table is lost. Returns the zones waiting for it. Table lock held. */
static struct zone_record_state *table_page_written(struct ftl_worker *self, struct table_page *page, struct io_queue *for_quiet)
{
	struct zone_table *table = self->ftl->table;
	struct zone_record_state *waiting = page->waiting;

	page->durable = page->writing;
	page->waiting = NULL;
	if (!page->reached)
		lt_store(&table->lost, 1);
	if (page->wanted != page->durable && !zone_table_lost(self->ftl)) {
		table_page_write(self, (uint32_t)(page - table->page));
		return waiting;
	}
	page->busy = false;
	if (--table->busy == 0) {
		*for_quiet = table->for_quiet;
		table->for_quiet = (struct io_queue){ NULL, NULL };
	}
	return waiting;
}

static bool on_one_die(const struct ftl *ftl, ppa_t a, ppa_t b)
{
	return a != PPA_NONE && b != PPA_NONE && flash_addr_of(ftl->map, a).die_index == flash_addr_of(ftl->map, b).die_index;
}

bool zone_table_on_one_die(const struct ftl *ftl, const struct table_page *page)
{
	return ftl->cfg->rain && on_one_die(ftl, page->ppa[0], page->ppa[1]);
}

/* The second copy goes to the next place, until it is on another die than the first one. Table lock held. */
static bool table_page_spread(struct ftl_worker *self, struct table_page *page)
{
	if (page->reached < ZONE_TABLE_COPIES || page->tries >= self->ftl->shape.planes || !zone_table_on_one_die(self->ftl, page))
		return false;
	page->tries++;
	page->reached--;
	page->pending = 1;
	slc_write(self, &page->write[1]);
	return true;
}

static void copy_written(struct slc_write *write)
{
	struct ftl_worker *self = worker_of(&write->txn);
	struct zone_table *table = self->ftl->table;
	struct table_page *page = write->context;
	struct io_queue for_quiet = { NULL, NULL };
	struct zone_record_state *waiting = NULL;
	struct lt_lock_node node;

	lt_lock_acquire(&table->lock, &node);
	replace_copy(self, page, write);
	if (--page->pending == 0 && !table_page_spread(self, page))
		waiting = table_page_written(self, page, &for_quiet);
	lt_lock_release(&table->lock, &node);
	while (waiting) {
		struct zone *zone = (struct zone *)((char *)waiting - offsetof(struct zone, record));

		waiting = waiting->next;
		lt_store(&zone->record.queued, 0);
		zone_kick(self, zone);
	}
	io_resume_all(&for_quiet);
}

/* Zone lock held. Table lock held. A zone is in the list once; copy_written empties the list without the zones' locks. */
static void wait_for_table_page(struct table_page *page, struct zone *zone)
{
	if (lt_swap(&zone->record.queued, 1))
		return;
	zone->record.next = page->waiting;
	page->waiting = &zone->record;
}

/* Sectors of a commit that failed are still in the zone's window. Zone lock held. */
static uint32_t dead_end(const struct zone *zone)
{
	uint32_t on_flash = zone_on_flash(zone);

	if (!zone->zrwa)
		return zone->wp;
	return zrwa_begin(zone) > on_flash ? zrwa_begin(zone) : on_flash;
}

/* Zone lock held. */
static void note_where(struct zone_record *record, const struct zone *zone)
{
	bool dead = zone->state == NVME_ZS_READ_ONLY || record->state >= ZONE_RECORD_READ_ONLY;

	record->placed = zone->placed;
	record->wp = dead ? dead_end(zone) : zone_on_flash(zone);
	record->superblock = zone->superblock;
	record->patch = zone->patch;
}

struct zone_record zone_table_record(const struct zone *zone, uint32_t generation, enum zone_record_kind kind)
{
	struct zone_record record = { .generation = generation,
				      .state = kind,
				      .reset_sequence = zone_is_backing(zone) ? lt_load(&zone->places->reset_sequence) : 0 };

	if (generation == zone->generation) {
		note_where(&record, zone);
		record.folded = zone->updates.folded;
	}
	return record;
}

void zone_table_commit(struct ftl_worker *self, struct zone *zone, const struct zone_record *record)
{
	struct zone_table *table = self->ftl->table;
	struct table_page *page = &table->page[zone->index / ZONE_RECORDS_PER_PAGE];
	struct lt_lock_node node;

	lt_lock_acquire(&table->lock, &node);
	table->record[zone->index] = *record;
	zone->record.ticket = ++page->wanted;
	if (zone_table_lost(self->ftl)) {
		zone_kick(self, zone);
	} else {
		wait_for_table_page(page, zone);
		if (!page->busy)
			table_page_write(self, zone->index / ZONE_RECORDS_PER_PAGE);
	}
	lt_lock_release(&table->lock, &node);
}

void zone_table_fold(struct ftl_worker *self, struct zone *zone)
{
	struct zone_table *table = self->ftl->table;
	struct zone_record record;
	struct lt_lock_node node;

	lt_lock_acquire(&table->lock, &node);
	record = table->record[zone->index];
	lt_lock_release(&table->lock, &node);
	note_where(&record, zone);
	record.folded = zone->updates.folded;
	zone_table_commit(self, zone, &record);
}

bool zone_table_reached(struct zone *zone)
{
	struct zone_table *table = zone->ftl->table;
	struct table_page *page = &table->page[zone->index / ZONE_RECORDS_PER_PAGE];
	struct lt_lock_node node;
	bool settled;

	lt_lock_acquire(&table->lock, &node);
	settled = zone_table_lost(zone->ftl) || (int32_t)(page->durable - zone->record.ticket) >= 0;
	if (settled)
		zone->record.ticket = 0;
	else
		wait_for_table_page(page, zone);
	lt_lock_release(&table->lock, &node);
	return settled;
}

/* Table lock held. */
static void want_table_page(struct ftl_worker *self, uint32_t index)
{
	struct table_page *page = &self->ftl->table->page[index];

	page->wanted++;
	if (!page->busy && !zone_table_lost(self->ftl))
		table_page_write(self, index);
}

void zone_table_record_all(struct ftl_worker *self, struct ftl_request *req, uint64_t data_before)
{
	struct ftl *ftl = self->ftl;
	struct zone_table *table = ftl->table;
	struct lt_lock_node zone_node, node;

	for (uint32_t z = 0; z < ftl->all_zones; z++) {
		lt_lock_acquire(&ftl->zones[z].lock, &zone_node);
		lt_lock_acquire(&table->lock, &node);
		note_where(&table->record[z], &ftl->zones[z]);
		table->record[z].data_before = data_before;
		lt_lock_release(&table->lock, &node);
		lt_lock_release(&ftl->zones[z].lock, &zone_node);
	}
	lt_lock_acquire(&table->lock, &node);
	table->number++;
	io_push(&table->for_quiet, req);
	for (uint32_t i = 0; i < table->pages; i++)
		want_table_page(self, i);
	if (!table->busy)
		io_resume(io_pop(&table->for_quiet)); /* lost: nothing is written */
	lt_lock_release(&table->lock, &node);
}

static uint32_t copy_index(uint32_t tag) { return SLC_NONE - 1 - tag; }

static ppa_t *copy_place(struct ftl *ftl, uint32_t tag)
{
	uint32_t index = copy_index(tag);

	return &ftl->table->page[index / ZONE_TABLE_COPIES].ppa[index % ZONE_TABLE_COPIES];
}

static bool copy_lies_at(struct ftl *ftl, uint32_t tag, ppa_t ppa) { return *copy_place(ftl, tag) == ppa; }

static bool comes_to_twin(struct ftl *ftl, uint32_t tag, ppa_t to)
{
	return on_one_die(ftl, *copy_place(ftl, slc_table_tag(copy_index(tag) ^ 1)), to);
}

static void copy_moved(struct ftl_worker *self, uint32_t tag, ppa_t from, ppa_t to)
{
	struct ftl *ftl = self->ftl;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->table->lock, &node);
	if (copy_lies_at(ftl, tag, from)) {
		*copy_place(ftl, tag) = to;
		slc_move(ftl, from, to);
	}
	lt_lock_release(&ftl->table->lock, &node);
}

/* A copy that comes to the die of its twin stays in the victim for now; or, without room for another one, the page is written again. */
static void copy_moved_apart(struct ftl_worker *self, uint32_t tag, ppa_t from, ppa_t to)
{
	struct ftl *ftl = self->ftl;
	struct lt_lock_node node;
	bool crowds, stays;

	lt_lock_acquire(&ftl->table->lock, &node);
	crowds = copy_lies_at(ftl, tag, from) && comes_to_twin(ftl, tag, to);
	stays = crowds && slc_copy_again(ftl);
	if (crowds && !stays)
		want_table_page(self, copy_index(tag) / ZONE_TABLE_COPIES);
	lt_lock_release(&ftl->table->lock, &node);
	if (!stays)
		copy_moved(self, tag, from, to);
}

void zone_table_keep_apart(struct ftl *ftl) { ftl->slc->owner[SLC_OWNS_TABLE].moved = copy_moved_apart; }

static bool half_lost(const struct table_page *page) { return (page->ppa[0] == PPA_NONE) != (page->ppa[1] == PPA_NONE); }

static void table_mend(struct lt_event *event)
{
	struct zone_table *table = (struct zone_table *)((char *)event - offsetof(struct zone_table, mend));
	struct ftl *ftl = table->ftl;
	struct lt_lock_node node;

	lt_lock_acquire(&table->lock, &node);
	for (uint32_t i = 0; i < table->pages; i++)
		if (half_lost(&table->page[i]))
			want_table_page(&ftl->workers[0], i);
	lt_lock_release(&table->lock, &node);
}

void zone_table_mend(struct ftl *ftl)
{
	for (uint32_t i = 0; i < ftl->table->pages; i++)
		ftl->damage.table_copies += half_lost(&ftl->table->page[i]);
	if (ftl->damage.table_copies)
		lt_post(&ftl->workers[0].thread, &ftl->table->mend, table_mend);
}

void zone_table_init(struct ftl *ftl, struct arena *arena)
{
	struct zone_table *table = arena_alloc(arena, 1, sizeof(*table), "zone table");

	ftl->table = table;
	table->ftl = ftl;
	lt_lock_init(&table->lock, HZ_LC_L2P, ftl->l2p->shards);
	table->pages = (ftl->all_zones + ZONE_RECORDS_PER_PAGE - 1) / ZONE_RECORDS_PER_PAGE;
	table->page = arena_alloc(arena, table->pages, sizeof(*table->page), "zone table");
	table->record = arena_alloc_table(arena, table->pages * ZONE_RECORDS_PER_PAGE, sizeof(*table->record), "zone records");
	for (uint32_t i = 0; i < table->pages; i++) {
		struct table_page *page = &table->page[i];

		page->image = arena_alloc_table(arena, 1, HZ_SECTOR_BYTES, "zone table page");
		for (unsigned c = 0; c < ZONE_TABLE_COPIES; c++) {
			page->ppa[c] = PPA_NONE;
			write_init(ftl, arena, page, &page->write[c]);
		}
	}
	slc_own(ftl->slc, SLC_OWNS_TABLE,
		(struct slc_owner){ .first = slc_table_tag(table->pages * ZONE_TABLE_COPIES - 1),
				    .last = slc_table_tag(0),
				    .moved = copy_moved,
				    .lies_at = copy_lies_at });
}

/* Saving of trims, and finding them at mount. */

static void save_round(struct ftl_worker *self);

/* The joined requests belong to this pass. False: none, the pass was the last. Under the lock. */
static bool pass_take(struct trim_saver *saver)
{
	struct lt_lock_node node;

	lt_lock_acquire(&saver->lock, &node);
	saver->waiting = saver->joined;
	saver->joined = (struct io_queue){ NULL, NULL };
	saver->running = saver->waiting.head;
	lt_lock_release(&saver->lock, &node);
	saver->cursor = 0;
	saver->failed = false;
	return saver->waiting.head;
}

/* The map's log tries again until it succeeds; if the SLC log is worn out it learns so when it writes its images. */
static bool fails(const struct trim_saver *saver, const struct ftl_request *req)
{
	return req->flags & FTL_FOR_MAP ? saver->failed && !saver->refused : saver->failed;
}

static void pass_end_saved(struct ftl_worker *self)
{
	struct trim_saver *saver = self->ftl->trim_saver;
	struct ftl_request *req;

	while ((req = io_pop(&saver->waiting))) {
		io_of(req)->step = fails(saver, req) ? FLUSH_FAILED : FLUSH_SAVED;
		io_resume(req);
	}
	if (pass_take(saver))
		save_round(self);
}

/* The pages of this round stay as they were. */
static void round_failed(struct ftl *ftl)
{
	struct trim_saver *saver = ftl->trim_saver;

	saver->failed = true;
	for (uint32_t i = 0; i < saver->count; i++)
		trims_want_page(ftl, saver->page[i]);
}

static void page_saved(struct ftl_worker *self, uint32_t index, ppa_t ppa)
{
	struct trim_page *page = &self->ftl->trims->page[index];
	ppa_t old = page->ppa;

	page->ppa = ppa;
	slc_validate(self->ftl, ppa, 1, slc_trim_tag(index));
	if (old != PPA_NONE)
		slc_invalidate(self, &old, 1);
}

static void pages_written(struct slc_write *write)
{
	struct ftl_worker *self = worker_of(&write->txn);
	struct trim_saver *saver = self->ftl->trim_saver;
	struct lt_lock_node node;

	if (write->ppa == PPA_NONE) {
		saver->refused = true;
		round_failed(self->ftl);
	}
	lt_lock_acquire(&saver->lock, &node);
	for (uint32_t i = 0; i < saver->count && write->ppa != PPA_NONE; i++)
		page_saved(self, saver->page[i], write->ppa + i);
	lt_lock_release(&saver->lock, &node);
	save_round(self);
}

static void data_flushed(struct ftl_request *req)
{
	struct ftl_worker *self = io_of(req)->worker;
	struct trim_saver *saver = self->ftl->trim_saver;

	if (req->status) {
		round_failed(self->ftl);
		save_round(self);
		return;
	}
	saver->write.txn.owner = &self->thread;
	saver->write.stream = SLC_MAP;
	saver->write.cause = HZ_CAUSE_MAP;
	saver->write.done = pages_written;
	slc_write(self, &saver->write);
}

static void image_make(struct ftl *ftl, uint32_t at, uint32_t page)
{
	struct trim_saver *saver = ftl->trim_saver;

	saver->page[at] = page;
	saver->write.oob[at] =
		(struct hz_oob){ .sequence = sequence_take(ftl, 1), .lpa = page, .kind = HZ_OOB_TRIM, .stream = TRIM_VERSION };
	trims_store(ftl, page, (uint64_t *)saver->write.memory[at]);
}

/* As many pages as a program has sectors. */
static void save_round(struct ftl_worker *self)
{
	struct ftl *ftl = self->ftl;
	struct trim_saver *saver = ftl->trim_saver;
	uint32_t unit = ftl->cfg->slc_program_sectors;

	for (saver->count = 0; saver->count < unit && saver->cursor < ftl->shape.trim_pages; saver->cursor++)
		if (trims_take_page(ftl, saver->cursor))
			image_make(ftl, saver->count++, saver->cursor);
	if (!saver->count) {
		pass_end_saved(self);
		return;
	}
	for (uint32_t i = saver->count; i < unit; i++)
		saver->write.oob[i] = (struct hz_oob){ .kind = HZ_OOB_PAD };
	saver->request = (struct ftl_request){ .op = FTL_FLUSH, .flags = FTL_BACKING, .reply_to = &self->thread, .done = data_flushed };
	io_submit(self, &saver->request);
}

bool trims_wait_saved(struct ftl_worker *self, struct ftl_request *req)
{
	struct trim_saver *saver = self->ftl->trim_saver;
	struct lt_lock_node node;
	bool waits, starts;

	if (!lt_load(&self->ftl->trims->used) || req == &saver->request)
		return false;
	lt_lock_acquire(&saver->lock, &node);
	waits = saver->running || lt_load(&self->ftl->trims->unsaved);
	starts = waits && !saver->running;
	if (waits)
		io_push(&saver->joined, req);
	if (starts)
		saver->running = true;
	lt_lock_release(&saver->lock, &node);
	if (starts) {
		saver->worker = self;
		if (pass_take(saver))
			save_round(self);
	}
	return waits;
}

/* --- owner of its sectors --- */

static bool trim_lies_at(struct ftl *ftl, uint32_t tag, ppa_t ppa) { return ftl->trims->page[tag - slc_trim_tag(0)].ppa == ppa; }

static void trim_moved(struct ftl_worker *self, uint32_t tag, ppa_t from, ppa_t to)
{
	struct ftl *ftl = self->ftl;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->trim_saver->lock, &node);
	if (trim_lies_at(ftl, tag, from)) {
		ftl->trims->page[tag - slc_trim_tag(0)].ppa = to;
		slc_move(ftl, from, to);
	}
	lt_lock_release(&ftl->trim_saver->lock, &node);
}

/* --- mount --- */

/* The collector leaves equal copies, and one of them may be lost. */
void trims_found(struct ftl *ftl, const struct hz_oob *oob, ppa_t ppa)
{
	struct trim_page *page;

	if (oob->lpa >= ftl->shape.trim_pages || oob->stream != TRIM_VERSION)
		return;
	page = &ftl->trims->page[oob->lpa];
	if (oob->flags & HZ_OOB_LOST) {
		page->lost = oob->sequence > page->lost ? oob->sequence : page->lost;
	} else if (page->ppa == PPA_NONE || oob->sequence > page->sequence) {
		page->ppa = ppa;
		page->sequence = oob->sequence;
	}
}

/* In place of an unreadable page use the one before it, if it still exists: LBAs deallocated since may read as older data. */
static bool load_page(struct ftl *ftl, uint32_t index)
{
	struct trim_page *page = &ftl->trims->page[index];
	uint8_t *image = ftl->trim_saver->write.memory[0];
	struct sgl data = { &image, 0, HZ_SECTOR_BYTES };

	if (page->ppa == PPA_NONE)
		return !page->lost;
	if (tsu_read_now(ftl->tsu, page->ppa, 1, &data, 0, NULL) != NAND_OK) {
		page->ppa = PPA_NONE;
		return false;
	}
	trims_load(ftl, index, (const uint64_t *)image);
	slc_validate(ftl, page->ppa, 1, slc_trim_tag(index));
	return page->lost <= page->sequence;
}

/* Any of the page's LBAs may have been deallocated since. */
static uint64_t trim_page_lbas(const struct ftl *ftl, uint32_t index)
{
	uint64_t rest = ftl->conventional_end - (uint64_t)index * HZ_TRIM_PAGE_LBAS;

	return rest < HZ_TRIM_PAGE_LBAS ? rest : HZ_TRIM_PAGE_LBAS;
}

void trims_mount(struct ftl *ftl)
{
	for (uint32_t i = 0; i < ftl->shape.trim_pages; i++)
		if (!load_page(ftl, i))
			ftl->damage.unknown_sectors += trim_page_lbas(ftl, i);
}

void trim_saver_init(struct ftl *ftl, struct arena *arena)
{
	struct trim_saver *saver = arena_alloc(arena, 1, sizeof(*saver), "trims");
	uint32_t unit = ftl->cfg->slc_program_sectors, pages = ftl->shape.trim_pages;

	ftl->trim_saver = saver;
	if (!pages)
		return;
	lt_lock_init(&saver->lock, HZ_LC_L2P, ftl->l2p->shards + 2);
	saver->page = arena_alloc(arena, unit, sizeof(*saver->page), "trims");
	saver->write.memory = arena_alloc(arena, unit, sizeof(uint8_t *), "trims");
	saver->write.oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "trims");
	for (uint32_t i = 0; i < unit; i++)
		saver->write.memory[i] = arena_alloc_data(arena, 1, HZ_SECTOR_BYTES, "pages of deallocated LBAs");
	slc_own(ftl->slc, SLC_OWNS_TRIMS,
		(struct slc_owner){
			.first = slc_trim_tag(0), .last = slc_trim_tag(pages - 1), .moved = trim_moved, .lies_at = trim_lies_at });
}
