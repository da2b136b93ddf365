/* Zone records on flash. */
#include "zone_table.h"

#include "context.h"
#include "write.h"

void zone_table_init(struct ftl *ftl, struct arena *arena)
{
	struct zone_table *table = &ftl->table;
	uint32_t unit = ftl->cfg->slc_program_sectors;

	lt_lock_init(&table->lock, HZ_LC_L2P, ftl->l2p.shards);
	table->pages = (ftl->all_zones + ZONE_RECORDS_PER_PAGE - 1) / ZONE_RECORDS_PER_PAGE;
	table->page = arena_alloc(arena, table->pages, sizeof(*table->page), "zone table");
	table->record = arena_alloc(arena, table->pages * ZONE_RECORDS_PER_PAGE, sizeof(*table->record), "zone records");
	for (uint32_t i = 0; i < table->pages; i++) {
		struct table_page *page = &table->page[i];

		page->ppa = PPA_NONE;
		page->image = arena_alloc(arena, 1, HZ_SECTOR_BYTES, "zone table page");
		page->write.page = arena_alloc(arena, unit, sizeof(uint8_t *), "zone table page list");
		page->write.oob = arena_alloc(arena, unit, sizeof(struct hz_oob), "zone table OOB");
		page->write.page[0] = page->image;
		for (uint32_t s = 1; s < unit; s++) {
			page->write.page[s] = ftl->zero_page;
			page->write.oob[s].kind = HZ_OOB_PAD;
		}
	}
}

static void page_written(struct slc_write *write);

/* Table lock held, page not busy and not up to date. */
static void page_write(struct ftl_worker *self, uint32_t index)
{
	struct ftl *ftl = self->ftl;
	struct table_page *page = &ftl->table.page[index];
	struct slc_write *write = &page->write;

	page->busy = true;
	page->writing = page->wanted;
	clock_freeze();
	memcpy(page->image, &ftl->table.record[index * ZONE_RECORDS_PER_PAGE], HZ_SECTOR_BYTES);
	clock_thaw();
	write->oob[0] = (struct hz_oob){ .sequence = sequence_take(ftl, 1), .lpa = index, .kind = HZ_OOB_ZONE_TABLE,
					 .stream = ZONE_TABLE_VERSION };
	write->txn.owner = &self->thread;
	write->stream = SLC_MAP;
	write->cause = HZ_CAUSE_MAP;
	write->context = page;
	write->done = page_written;
	slc_write(self, write);
}

static void page_written(struct slc_write *write)
{
	struct ftl_worker *self = worker_of(&write->txn);
	struct zone_table *table = &self->ftl->table;
	struct table_page *page = write->context;
	struct lt_lock_node node;
	struct zone *waiting;
	ppa_t old;

	lt_lock_acquire(&table->lock, &node);
	old = page->ppa;
	page->ppa = write->ppa;
	slc_validate(self->ftl, write->ppa, 1, slc_table_tag((uint32_t)(page - table->page)));
	if (old != PPA_NONE)
		slc_invalidate(self, &old, 1);
	page->durable = page->writing;
	page->busy = false;
	waiting = page->waiting;
	page->waiting = NULL;
	if (page->wanted != page->durable)
		page_write(self, (uint32_t)(page - table->page));
	lt_lock_release(&table->lock, &node);
	while (waiting) {
		struct zone *next = waiting->next_record;

		lt_store(&waiting->record_queued, 0);
		zone_kick(self, waiting);
		waiting = next;
	}
}

/* Zone lock held. Table lock held. A zone is in the list once; page_written empties the list without the zones' locks. */
static void wait_for_page(struct table_page *page, struct zone *zone)
{
	if (lt_swap(&zone->record_queued, 1))
		return;
	zone->next_record = page->waiting;
	page->waiting = zone;
}

struct zone_record zone_table_record(const struct zone *zone, uint32_t generation, enum zone_record_state state)
{
	return (struct zone_record){ .generation = generation, .state = state,
				     .reset_sequence = zone->backing ? lt_load(&zone->page->reset_sequence) : 0 };
}

void zone_table_commit(struct ftl_worker *self, struct zone *zone, const struct zone_record *record)
{
	struct zone_table *table = &self->ftl->table;
	struct table_page *page = &table->page[zone->index / ZONE_RECORDS_PER_PAGE];
	struct lt_lock_node node;

	lt_lock_acquire(&table->lock, &node);
	table->record[zone->index] = *record;
	zone->record_ticket = ++page->wanted;
	wait_for_page(page, zone);
	if (!page->busy)
		page_write(self, zone->index / ZONE_RECORDS_PER_PAGE);
	lt_lock_release(&table->lock, &node);
}

bool zone_table_settled(struct ftl *ftl, struct zone *zone)
{
	struct zone_table *table = &ftl->table;
	struct table_page *page = &table->page[zone->index / ZONE_RECORDS_PER_PAGE];
	struct lt_lock_node node;
	bool settled;

	if (!zone->record_ticket)
		return true;
	lt_lock_acquire(&table->lock, &node);
	settled = (int32_t)(page->durable - zone->record_ticket) >= 0;
	if (settled)
		zone->record_ticket = 0;
	else
		wait_for_page(page, zone);
	lt_lock_release(&table->lock, &node);
	return settled;
}

void zone_table_move(struct ftl *ftl, uint32_t index, ppa_t from, ppa_t to)
{
	struct zone_table *table = &ftl->table;
	struct lt_lock_node node;

	lt_lock_acquire(&table->lock, &node);
	if (table->page[index].ppa == from) {
		table->page[index].ppa = to;
		slc_move(ftl, from, to);
	}
	lt_lock_release(&table->lock, &node);
}
