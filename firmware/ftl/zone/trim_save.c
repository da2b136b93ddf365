/* Saving of trims, and finding them at mount. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "zone/trim_save.h"

#include "l2p/l2p.h"
#include "lt/arena.h"
#include "places/trims.h"
#include "slc/slc.h"
#include "tsu/tsu_mount.h"

static void save_round(struct ftl_worker *self);

/* Under the lock: the requests that joined are this pass's. False: there are none, the pass was the last. */
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

/* The collector leaves equal copies, of which one may be lost. */
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

/* Of a page that cannot be read the one before it holds, if that is still there: of what was deallocated since, older data may be read. */
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
