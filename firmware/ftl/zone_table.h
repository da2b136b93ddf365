/* Zone records that must survive power cuts: generation, finish, read-only/offline, fence. Packed into 4 KiB table pages, which are
 * written to the SLC log like any sector (OOB kind ZONE_TABLE, lpa = page number); the highest sequence number wins.
 *
 * table.lock is of class L2P (index: number of map shards), since a page's place is mapped like a sector's and SLC is taken under it. One write per page at a time; records changed meanwhile go out together with the next. */
#ifndef FTL_ZONE_TABLE_H
#define FTL_ZONE_TABLE_H

#include "nand_image.h"
#include "slc.h"

struct ftl_worker;
struct zone;

enum zone_record_state { ZONE_RECORD_OPEN = 0, ZONE_RECORD_FINISHED = 1, ZONE_RECORD_READ_ONLY = 2, ZONE_RECORD_OFFLINE = 3 };
struct zone_record {
	uint32_t generation;
	uint32_t state;               /* enum zone_record_state */
	uint32_t finish;              /* FINISHED: sectors written before the finish */
	uint32_t fence_offset;        /* sectors at or beyond it … */
	uint64_t fence_sequence;      /* … with a sequence number up to this one are dead */
	uint64_t reset_sequence;      /* backing zone: data with a sequence number up to this one are dead */
};
HZ_ASSERT_SIZE(struct zone_record, HZ_SECTOR_BYTES / HZ_ZONE_RECORDS_PER_PAGE);
enum { ZONE_RECORDS_PER_PAGE = HZ_ZONE_RECORDS_PER_PAGE, ZONE_TABLE_VERSION = 1 };

struct table_page {
	uint32_t wanted, writing, durable;  /* versions; wanted > durable: must be written */
	bool busy;
	ppa_t ppa;                    /* valid copy, PPA_NONE if none was ever written */
	struct slc_write write;
	struct zone *waiting;         /* by next_record */
	uint8_t *image;               /* what is being written */
};
struct zone_table {
	struct lt_lock lock;
	uint32_t pages;
	struct table_page *page;
	struct zone_record *record;   /* by zone */
};

void zone_table_init(struct ftl *ftl, struct arena *arena);
/* Zone lock held: a record without finish or fence. */
struct zone_record zone_table_record(const struct zone *zone, uint32_t generation, enum zone_record_state state);
/* Zone lock held: start to make the zone's present record durable; the zone is kicked once it may be. */
void zone_table_commit(struct ftl_worker *self, struct zone *zone, const struct zone_record *record);
/* Zone lock held: has the last commit reached flash? */
bool zone_table_settled(struct ftl *ftl, struct zone *zone);
/* The SLC collector has made a copy of a page at `to`; it counts if the page still lies at `from`. SLC lock not held. */
void zone_table_move(struct ftl *ftl, uint32_t page, ppa_t from, ppa_t to);

#endif
