/* Flushing the L2P log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "map/flash_log.h"

#include "lt/arena.h"
#include "map/l2p.h"
#include "map/l2p_internal.h"
#include "places/places.h"
#include "slc/slc.h"

static void round_begin(struct ftl_worker *self);
static void round_merge(struct ftl_worker *self);
static void items_write(struct ftl_worker *self);

/* --- waiters --- */

void l2p_log_add(struct ftl *ftl, uint32_t entries) { lt_add(&ftl->l2p->log.used, entries); }

void l2p_log_remove(struct ftl *ftl, uint32_t entries) { lt_add(&ftl->l2p->log.used, 0 - (uint64_t)entries); }

static bool has_room(const struct l2p_log *log) { return !lt_load(&log->closed) && lt_load(&log->used) < log->capacity; }

static void pass_begin(struct lt_event *event)
{
	struct l2p_log *log = (struct l2p_log *)((char *)event - offsetof(struct l2p_log, event));

	l2p_dirty_begin(log->worker->ftl);
	lt_store(&log->again, 0);
	l2p_directory_pass(log->worker->ftl);
	l2p_checkpoint_pass(log->worker->ftl);
	log->worker->counters.l2p_flushes++;
	round_begin(log->worker);
}

void l2p_log_flush(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;

	if (lt_load(&log->lost) || !lt_cas(&log->running, 0, 1))
		return;
	log->worker = self;
	lt_post(&self->thread, &log->event, pass_begin);
}

void l2p_log_kick(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;

	if (lt_load(&log->used) + lt_load(&log->again) < log->threshold)
		return;
	if (self->ftl->cfg->l2p_log_policy == HZ_L2P_LOG_BLOCKING)
		lt_store(&log->closed, 1);
	l2p_log_flush(self);
}

static void wait_for_room(struct ftl_worker *self, struct l2p_log *log, struct zone *zone)
{
	if (zone->for_log.queued)
		return;
	zone->for_log.queued = true;
	waiter_push(&log->waiting, &zone->for_log);
	if (zone->log_since_ns)
		return;
	lt_logical_wait(HZ_LOGICAL_MAP_LOG, 0, &zone->log_since_ns);
	zone->log_since_ns = clock_now_ns();
	self->counters.l2p_stalls++;
}

static void stall_ended(struct ftl_worker *self, struct zone *zone)
{
	if (!zone->log_since_ns)
		return;
	self->counters.l2p_stall_ns += clock_now_ns() - zone->log_since_ns;
	lt_logical_wait_ended(&zone->log_since_ns);
	zone->log_since_ns = 0;
}

bool l2p_log_room(struct ftl_worker *self, struct zone *zone)
{
	struct l2p_log *log = &self->ftl->l2p->log;
	struct lt_lock_node node;
	bool room = has_room(log);

	if (!room) {
		lt_lock_acquire(&log->lock, &node);
		room = has_room(log);
		if (lt_load(&log->lost))
			zone_become(zone, ZONE_FAILED);
		else if (!room)
			wait_for_room(self, log, zone);
		lt_lock_release(&log->lock, &node);
	}
	if (room)
		lt_tell_had(HZ_LOGICAL_MAP_LOG);
	if (room || zone_failed(zone))
		stall_ended(self, zone);
	else
		l2p_log_flush(self);
	return room && !zone_failed(zone);
}

bool l2p_log_admits(struct ftl_worker *self, struct ftl_request *req)
{
	struct l2p_log *log = &self->ftl->l2p->log;
	struct lt_lock_node node;
	bool room = has_room(log);

	if (room)
		return true;
	lt_lock_acquire(&log->lock, &node);
	room = has_room(log) || lt_load(&log->lost);
	if (!room)
		io_push(&log->for_room, req);
	lt_lock_release(&log->lock, &node);
	if (!room)
		l2p_log_flush(self);
	return room;
}

bool l2p_log_settled(struct ftl_worker *self, struct ftl_request *req)
{
	struct l2p_log *log = &self->ftl->l2p->log;
	struct lt_lock_node node;
	bool empty;

	lt_lock_acquire(&log->lock, &node);
	empty = !lt_load(&log->used) || lt_load(&log->lost);
	if (!empty)
		io_push(&log->for_quiet, req);
	lt_lock_release(&log->lock, &node);
	if (!empty)
		l2p_log_flush(self);
	return empty;
}

void l2p_log_await_pass(struct ftl_worker *self, struct ftl_request *req)
{
	struct l2p_log *log = &self->ftl->l2p->log;
	struct lt_lock_node node;
	bool lost;

	lt_lock_acquire(&log->lock, &node);
	lost = lt_load(&log->lost);
	if (!lost)
		io_push(&log->for_pass, req);
	lt_lock_release(&log->lock, &node);
	if (lost)
		io_resume(req);
	else
		l2p_log_flush(self);
}

/* Log lock held. */
static struct io_queue log_take(struct io_queue *queue, bool now)
{
	struct io_queue taken = now ? *queue : (struct io_queue){ NULL, NULL };

	if (now)
		*queue = (struct io_queue){ NULL, NULL };
	return taken;
}

static struct waiter *log_next_waiting(struct l2p_log *log)
{
	struct waiter *waiter = has_room(log) || lt_load(&log->lost) ? waiter_pop(&log->waiting) : NULL;

	if (waiter)
		waiter->queued = false;
	return waiter;
}

/* Admit zones while there is room. True: some still wait. */
static bool let_in(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;
	struct io_queue for_quiet, for_room, for_pass;
	struct lt_lock_node node;
	struct waiter *waiter;
	bool waits;

	do {
		lt_lock_acquire(&log->lock, &node);
		waiter = log_next_waiting(log);
		lt_lock_release(&log->lock, &node);
		if (waiter)
			zone_kick(self, waiter->zone);
	} while (waiter);
	lt_lock_acquire(&log->lock, &node);
	for_quiet = log_take(&log->for_quiet, !lt_load(&log->used) || lt_load(&log->lost));
	for_room = log_take(&log->for_room, has_room(log) || lt_load(&log->lost));
	for_pass = log_take(&log->for_pass, true);
	waits = log->waiting.head || log->for_quiet.head || log->for_room.head;
	lt_lock_release(&log->lock, &node);
	io_resume_all(&for_room);
	io_resume_all(&for_pass);
	io_resume_all(&for_quiet);
	return waits;
}

static void pass_end(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;

	lt_store(&log->closed, 0);
	lt_store(&log->running, 0);
	if (let_in(self))
		l2p_log_flush(self);
	else
		l2p_log_kick(self);
}

/* --- choosing the pages of a round --- */

struct log_item *l2p_log_item(const struct ftl *ftl, uint32_t shard, uint32_t page)
{
	struct log_item *item = ftl->l2p->log.taken[shard];

	while (item->page != page)
		item = item->next;
	return item;
}

/* Shard lock held. */
static void item_link(struct l2p_log *log, uint32_t shard, struct log_item *item)
{
	item->next = log->taken[shard];
	log->taken[shard] = item;
}

static void item_unlink(struct l2p_log *log, uint32_t shard, const struct log_item *item)
{
	struct log_item **link = &log->taken[shard];

	while (*link != item)
		link = &(*link)->next;
	*link = item->next;
}

/* Record the zone of the new copy. False: nothing new. Zone and shard lock held. */
static bool note_sequential(struct ftl *ftl, const struct zone *zone, struct log_item *item, uint32_t index)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, index);
	uint32_t first = map_page_first(ftl, index), split = ftl->l2p->table.split;

	if (page->level == MAP_UNSEEN)
		map_page_doubt(ftl->l2p->log.worker, index);
	item->page = index;
	item->conventional = item->checkpoint = item->directory = item->staged = item->forgotten = item->again = false;
	item->lost = page->lost;
	item->from = page->merged;
	item->to = map_page_placed(ftl, zone, index);
	item->kept = page->staged && zone->staged > first ? min_u32(zone->staged - first, HZ_MAP_PAGE_ENTRIES) : 0;
	item->head = page->head;
	if (item->from == item->to && !item->head && !l2p_staged_news(ftl, zone, index))
		return false;
	item->placed = zone->placed;
	item->generation = zone->generation;
	item->base = zone_place(zone, first);
	item->patch = first < split && zone->placed > split ? zone_place(zone, split) : 0;
	item->tries = 0;
	item->reads = page->ppa != MAP_NO_COPY;
	page->head = 0;
	page->writing = 1;
	if (item->reads) {
		item->txn.ppa = page->ppa;
		slc_pin(ftl, page->ppa);
	}
	return true;
}

/* Shard lock held. The same for a page of a conventional zone. */
static bool note_conventional(struct ftl *ftl, const struct zone *zone, struct log_item *item, uint32_t index)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, index);

	*item = (struct log_item){ .txn = item->txn,
				   .image = item->image,
				   .page = index,
				   .generation = zone->generation,
				   .conventional = true,
				   .reads = page->ppa != MAP_NO_COPY };
	if (!l2p_changes_next(ftl, index, NULL) && !page->lost)
		return false;
	page->writing = 1;
	if (item->reads) {
		item->txn.ppa = page->ppa;
		slc_pin(ftl, page->ppa);
	}
	return true;
}

static bool item_take(struct ftl *ftl, struct log_item *item, uint32_t index)
{
	bool (*note)(struct ftl * ftl, const struct zone *zone, struct log_item *item, uint32_t index);
	struct zone *zone = map_page_zone(ftl, index);
	uint32_t shard = zone->map_shard;
	struct lt_lock *lock = &ftl->l2p->shard[shard];
	struct lt_lock_node zone_node, node;
	bool taken;

	note = l2p_conventional(ftl, zone) ? note_conventional : note_sequential;
	lt_lock_acquire(&zone->lock, &zone_node);
	lt_lock_acquire(lock, &node);
	map_page_state(&ftl->l2p->table, index)->dirty = 0;
	taken = note(ftl, zone, item, index);
	if (taken)
		item_link(&ftl->l2p->log, shard, item);
	lt_lock_release(lock, &node);
	lt_lock_release(&zone->lock, &zone_node);
	return taken;
}

/* --- reading the old copies --- */

static void item_read_copy(struct ftl_worker *self, struct log_item *item)
{
	item->txn.owner = &self->thread;
	item->txn.next = NULL;
	self->counters.l2p_merges++;
	tsu_submit(self->ftl->tsu, &item->txn);
}

/* Data only in the old copy must be found elsewhere. */
static void item_lost(struct ftl *ftl, struct log_item *item)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, item->page);
	struct lt_lock *lock = map_page_lock(ftl, item->page);
	struct lt_lock_node node;

	item->reads = false;
	lt_lock_acquire(lock, &node);
	if (!item->conventional && !item->lost && item->kept > item->to)
		l2p_staged_lost(ftl, map_page_zone(ftl, item->page), item->page);
	item->lost |= item->conventional || page->lost;
	lt_lock_release(lock, &node);
}

static void copy_read(struct tsu_txn *txn)
{
	struct log_item *item = (struct log_item *)txn;
	struct ftl_worker *self = worker_of(txn);
	struct l2p_log *log = &self->ftl->l2p->log;

	if (txn->status == NAND_POWER_OFF)
		return;
	if (txn->status != NAND_OK && ++item->tries < SLC_READ_TRIES) {
		item_read_copy(self, item);
		return;
	}
	slc_unpin(self, txn->ppa);
	if (txn->status != NAND_OK) {
		self->counters.l2p_rebuilt++;
		item_lost(self->ftl, item);
	}
	if (--log->pending == 0)
		round_merge(self);
}

/* Checkpoints are items like table pages, in a round of their own. */
static bool checkpoint_round(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;

	for (log->count = 0; log->count < log->most; log->count++) {
		struct log_item *item = &log->item[log->count];
		uint32_t index = l2p_checkpoint_next(self->ftl, item->image);

		if (index == UINT32_MAX)
			break;
		*item = (struct log_item){ .txn = item->txn, .image = item->image, .page = index, .checkpoint = true };
	}
	if (log->count)
		items_write(self);
	return log->count;
}

/* Pages of the directory are read and merged like table pages, when these have all been written. */
static bool directory_round(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;

	while (log->count < log->most && l2p_directory_take(self->ftl, &log->item[log->count]))
		log->count++;
	return log->count;
}

static void round_begin(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;
	uint32_t page = 0;

	log->pending = 1;
	for (log->count = 0; log->count < log->most && (page = l2p_dirty_next(self->ftl)) != UINT32_MAX;)
		log->count += item_take(self->ftl, &log->item[log->count], page);
	if (!log->count && !directory_round(self)) {
		if (!checkpoint_round(self))
			pass_end(self);
		return;
	}
	for (uint32_t i = 0; i < log->count; i++) {
		log->pending += log->item[i].reads;
		if (log->item[i].reads)
			item_read_copy(self, &log->item[i]);
	}
	if (--log->pending == 0)
		round_merge(self);
}

/* --- merging --- */

static ppa_t place_in(const struct ftl *ftl, const struct log_item *item, uint32_t first, uint32_t i)
{
	uint32_t split = ftl->l2p->table.split;

	if (first < split && first + i >= split)
		return item->patch + (first + i - split);
	return item->base + i;
}

/* End of the entries from i on with the same level and the same chunk. */
static uint32_t segment_end(const struct ftl *ftl, const struct log_item *item, uint32_t first, uint32_t i)
{
	uint32_t end = item->to, split = ftl->l2p->table.split, mask = ftl->cfg->l2p_chunk_sectors - 1;
	uint32_t chunk_end = ((first + i) | mask) + 1 - first;

	if (ftl->cfg->l2p_levels > HZ_MAP_PAGE && chunk_end < end)
		end = chunk_end;
	return first + i < split && split - first < end ? split - first : end;
}

/* A range of this level begins in this page: set the map bits of its first entry, even an old one. */
static void mark_head(const struct ftl *ftl, const struct log_item *item, uint32_t first, uint32_t i, uint8_t level)
{
	uint32_t *entry = (uint32_t *)item->image;
	struct map_range range;

	if (l2p_range_at(ftl, level, first + i, &range) && range.head >= first)
		entry[range.head - first] = place_in(ftl, item, first, range.head - first) | (uint32_t)level << HZ_PPA_BITS;
}

/* Set the map bits of new entries; of the old ones only heads of newly complete ranges change. */
static void merge(const struct ftl *ftl, struct log_item *item)
{
	uint32_t first = map_page_first(ftl, item->page), *entry = (uint32_t *)item->image, end;
	struct map_range range;
	uint8_t level;

	for (uint32_t i = item->reads ? item->from : 0; i < item->to; i = end) {
		level = l2p_level_at(ftl, item->placed, first + i, &range);
		if (level > HZ_MAP_PAGE)
			mark_head(ftl, item, first, i, HZ_MAP_CHUNK);
		end = segment_end(ftl, item, first, i);
		for (uint32_t at = i; at < end; at++)
			entry[at] = place_in(ftl, item, first, at) | (uint32_t)level << HZ_PPA_BITS;
	}
	level = l2p_level_at(ftl, item->placed, first, &range);
	if (item->to)
		mark_head(ftl, item, first, 0, level);
	if (!item->reads || item->lost || item->kept < item->to)
		item->kept = item->to;
	memset(&entry[item->kept], 0xff, (HZ_MAP_PAGE_ENTRIES - item->kept) * sizeof(*entry));
}

/* --- writing --- */

/* The new copy is current. Returns how many entries leave the log besides the runs. Shard lock held. */
static uint32_t staged_written(struct ftl *ftl, const struct log_item *item)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, item->page);
	const struct zone *zone = map_page_zone(ftl, item->page);
	bool rebuilt = item->lost && page->lost && !item->again;

	if (rebuilt)
		page->lost = 0;
	else if (page->lost)
		map_page_dirty(ftl, zone->map_shard, item->page);
	page->staged = item->staged;
	if (item->staged) {
		map_page_void_reads(ftl, item->page); /* they lack the entries that leave the log now */
		l2p_staged_drop(ftl, zone, item);
	}
	return rebuilt;
}

/* Staged sectors may have been placed meanwhile, so that the image may be empty. Shard lock held. */
static void sequential_done(struct ftl_worker *self, const struct log_item *item, ppa_t ppa)
{
	struct map_page *page = map_page_state(&self->ftl->l2p->table, item->page);

	if (!item->to && !item->staged) {
		map_page_drop_copy(self, item->page);
		return;
	}
	map_page_set_copy(self, item->page, ppa);
	page->merged = item->to & 0x7ff;
	page->level = (item->to ? l2p_entry_level(*(const uint32_t *)item->image) : HZ_MAP_PAGE) & 3;
}

/* Unlike a zone's, a page's older bytes are not true any more. */
static void conventional_done(struct ftl_worker *self, const struct log_item *item, ppa_t ppa)
{
	struct l2p_table *table = &self->ftl->l2p->table;

	map_page_set_copy(self, item->page, ppa);
	map_page_void_reads(self->ftl, item->page);
	map_page_set_version(table, item->page, item->sequence);
	map_page_state(table, item->page)->lost = 0;
	l2p_directory_note(self->ftl, item->page, ppa & MAP_NO_COPY, *(const uint32_t *)item->image);
}

/* Not a table page. Data read from an older directory page lack former news. */
static void summary_done(struct ftl_worker *self, const struct log_item *item, ppa_t ppa)
{
	map_page_set_copy(self, item->page, ppa);
	map_page_void_reads(self->ftl, item->page);
}

static bool of_table(const struct log_item *item) { return !item->checkpoint && !item->directory; }

static void item_done(struct ftl_worker *self, struct log_item *item, ppa_t ppa)
{
	struct ftl *ftl = self->ftl;
	struct map_page *page = map_page_state(&ftl->l2p->table, item->page);
	uint32_t shard = map_page_shard(ftl, item->page), leaves = item->head;
	struct lt_lock_node node;

	lt_lock_acquire(&ftl->l2p->shard[shard], &node);
	if (!of_table(item)) {
		summary_done(self, item, ppa);
	} else if (item->conventional) {
		conventional_done(self, item, ppa);
	} else if (!item->forgotten) {
		leaves += item->to - page->merged;
		sequential_done(self, item, ppa);
		leaves += staged_written(ftl, item);
	}
	page->writing = 0;
	if (of_table(item))
		item_unlink(&ftl->l2p->log, shard, item);
	l2p_log_remove(ftl, leaves);
	lt_lock_release(&ftl->l2p->shard[shard], &node);
	if (item->conventional)
		l2p_log_remove(ftl, l2p_changes_drop(self, item));
	self->counters.l2p_table_pages_written++;
}

/* The SLC log is worn out. The page's changes stay in the log, where reads look as long as the page is marked as being written; the item
 * is not reused for another page. */
static void item_refused(struct ftl *ftl, const struct log_item *item)
{
	struct map_page *page = map_page_state(&ftl->l2p->table, item->page);
	struct lt_lock *lock = map_page_lock(ftl, item->page);
	struct lt_lock_node node;

	lt_lock_acquire(lock, &node);
	if (item->head && item->forgotten)
		l2p_log_remove(ftl, 1);
	else if (item->head)
		page->head = 1;
	lt_store(&ftl->l2p->log.lost, 1);
	lt_lock_release(lock, &node);
}

static void written(struct slc_write *write)
{
	struct ftl_worker *self = worker_of(&write->txn);
	struct l2p_log *log = &self->ftl->l2p->log;
	uint32_t unit = self->ftl->slc->unit_sectors, first = (uint32_t)(write - log->write) * unit;

	for (uint32_t i = 0; i < unit && first + i < log->count; i++)
		if (write->ppa == PPA_NONE)
			item_refused(self->ftl, &log->item[first + i]);
		else
			item_done(self, &log->item[first + i], write->ppa + i);
	if (--log->pending)
		return;
	if (lt_load(&log->lost)) {
		pass_end(self);
		return;
	}
	let_in(self);
	round_begin(self);
}

static struct hz_oob item_oob(const struct ftl *ftl, const struct log_item *item)
{
	struct hz_oob oob = { .kind = HZ_OOB_MAP, .stream = L2P_TABLE_VERSION, .sequence = item->sequence, .generation = item->generation };

	if (item->checkpoint)
		oob.kind = HZ_OOB_CHECKPOINT, oob.lpa = item->page - ftl->l2p->table.pages;
	else if (item->directory)
		oob.kind = HZ_OOB_DIRECTORY, oob.lpa = item->page - ftl->l2p->directory.first;
	else
		oob.lpa = map_page_lpa(ftl, item->page);
	return oob;
}

static void write_units(struct ftl_worker *self, uint32_t units)
{
	struct ftl *ftl = self->ftl;
	struct l2p_log *log = &ftl->l2p->log;
	uint32_t unit = ftl->slc->unit_sectors;

	log->pending = units;
	for (uint32_t u = 0; u < units; u++) {
		struct slc_write *write = &log->write[u];

		for (uint32_t i = 0; i < unit; i++) {
			uint32_t at = u * unit + i;

			write->memory[i] = at < log->count ? log->item[at].image : ftl->zero_sector;
			write->oob[i] = at < log->count ? item_oob(ftl, &log->item[at]) : (struct hz_oob){ .kind = HZ_OOB_PAD };
		}
		write->txn.owner = &self->thread;
		write->stream = SLC_MAP;
		write->cause = HZ_CAUSE_MAP;
		write->done = written;
		slc_write(self, write);
	}
}

static void images_write(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;
	uint32_t units = 0;

	for (uint32_t done = 0; done < log->count; done += self->ftl->slc->unit_sectors)
		units++;
	write_units(self, units);
}

static void places_flush(struct ftl_worker *self);

/* A zone that failed during the wait delays no second flush; mount finds its losses (conv_mount.c). */
static void places_flushed(struct ftl_request *req)
{
	if (req->status)
		places_flush(io_of(req)->worker);
	else
		images_write(io_of(req)->worker);
}

static void places_flush(struct ftl_worker *self)
{
	struct ftl_request *req = &self->ftl->l2p->log.flush;

	*req = (struct ftl_request){
		.op = FTL_FLUSH, .flags = FTL_BACKING | FTL_FOR_MAP, .reply_to = &self->thread, .done = places_flushed
	};
	io_submit(self, req);
}

/* --- the images name durable places only --- */

/* Places become durable by themselves while their writer continues; a flush meanwhile costs a partial unit. Wait for a superpage to be
 * filled and programmed, unless a request waits for the log. */
enum { LOOKS = 16 };

void l2p_log_await(struct l2p_log *log, const struct place_zone *zone, uint32_t offset)
{
	uint32_t i = 0;

	while (i < log->awaits && log->awaited[i].zone != zone)
		i++;
	if (i == L2P_AWAITED) {
		log->crowded = true;
		return;
	}
	if (i == log->awaits)
		log->awaited[log->awaits++] = (struct l2p_awaited){ zone, 0 };
	if (log->awaited[i].to <= offset)
		log->awaited[i].to = offset + 1;
}

static bool settled(const struct l2p_log *log)
{
	for (uint32_t i = 0; i < log->awaits; i++)
		if (lt_load(&log->awaited[i].zone->durable) < log->awaited[i].to)
			return false;
	return !log->crowded;
}

static void places_look(struct lt_timer *timer)
{
	struct l2p_log *log = (struct l2p_log *)((char *)timer - offsetof(struct l2p_log, timer));

	if (settled(log))
		images_write(log->worker);
	else if (log->crowded || !has_room(log) || log->looks++ == LOOKS)
		places_flush(log->worker);
	else
		lt_timer_arm(timer, clock_now_ns() + ftl_look_ns(log->worker->ftl), places_look);
}

/* Sequence numbers are taken first: the images are true from then on. */
static void number_items(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;
	uint64_t sequence = sequence_take(self->ftl, log->count);

	for (uint32_t i = 0; i < log->count; i++)
		log->item[i].sequence = sequence + i;
}

static void items_write(struct ftl_worker *self)
{
	number_items(self);
	images_write(self);
}

static void sequential_merge(struct ftl_worker *self, struct log_item *item)
{
	merge(self->ftl, item);
	l2p_staged_merge(self, item);
}

static void item_merge(struct ftl_worker *self, struct log_item *item)
{
	item->known = item->reads ? item->oob.sequence : item->sequence;
	if (item->directory)
		l2p_directory_merge(self->ftl, item);
	else if (item->conventional)
		l2p_changes_merge(self, item);
	else
		sequential_merge(self, item);
}

static void images_merge(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;

	number_items(self);
	log->awaits = log->looks = 0;
	log->crowded = false;
	for (uint32_t i = 0; i < log->count; i++)
		item_merge(self, &log->item[i]);
}

/* An image may have a place only if its number is younger than the place's last reset: else the next merge would take the place for
 * another LBA's and leave it valid, and the collector would bring old data back. Between number and merge a zone may have been reset and
 * rewritten, so everything is done again then. Merging twice is harmless, and a reset takes a collection: the second time is the last. */
static void round_merge(struct ftl_worker *self)
{
	struct l2p_log *log = &self->ftl->l2p->log;
	const lt_word *resets = &self->ftl->places->resets;
	uint64_t before;

	do {
		before = lt_load(resets);
		images_merge(self);
	} while (lt_load(resets) != before);
	for (uint32_t i = 0; i < log->count; i++)
		log->checkpoints.unrecorded += log->item[i].conventional;
	places_look(&log->timer);
}

/* --- construction --- */

static void writes_init(struct ftl *ftl, struct arena *arena, uint32_t unit)
{
	struct l2p_log *log = &ftl->l2p->log;
	uint32_t units = log->most / unit;

	log->write = arena_alloc(arena, units, sizeof(*log->write), "table page writes");
	for (uint32_t u = 0; u < units; u++) {
		log->write[u].memory = arena_alloc(arena, unit, sizeof(uint8_t *), "table page lists");
		log->write[u].oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "table page OOB");
	}
}

void l2p_log_init(struct ftl *ftl, struct arena *arena)
{
	struct l2p_log *log = &ftl->l2p->log;
	uint32_t unit = ftl->cfg->slc_program_sectors;

	lt_lock_init(&log->lock, HZ_LC_L2P, ftl->l2p->shards + 1);
	log->checkpoints.next = ftl->shape.map_checkpoints;
	log->capacity = ftl->cfg->l2p_log_entries;
	log->threshold = ftl->cfg->l2p_log_policy == HZ_L2P_LOG_BLOCKING ? log->capacity : log->capacity / 2;
	log->most = unit > SLC_MAP_WRITES ? unit : SLC_MAP_WRITES / unit * unit;
	log->item = arena_alloc(arena, log->most, sizeof(*log->item), "table page merges");
	log->taken = arena_alloc(arena, ftl->l2p->shards, sizeof(*log->taken), "table page merges");
	for (uint32_t i = 0; i < log->most; i++) {
		struct log_item *item = &log->item[i];

		item->image = arena_alloc_data(arena, 1, HZ_SECTOR_BYTES, "data of table page merges");
		item->txn = (struct tsu_txn){ .done = copy_read,
					      .op = TSU_READ,
					      .cause = HZ_CAUSE_MAP,
					      .sectors = 1,
					      .data = { &item->image, 0, HZ_SECTOR_BYTES },
					      .oob = &item->oob };
	}
	writes_init(ftl, arena, unit);
}
