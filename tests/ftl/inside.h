/* Access of tests to the inside of the FTL. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FTL_INSIDE_H
#define TEST_FTL_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "lt/arch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ftl;
struct lt_lock;
struct tsu;

/* Flash address of a sector, staged or final; PPA_NONE: none. Harts idle. */
uint32_t rig_place_of(struct ftl *ftl, uint32_t zone, uint32_t offset);
/* With rain, and harts idle: NULL, or a stripe whose parity is not that of its data. Looks at some sectors of each unit, others each time. */
const char *rig_check_parity(struct ftl *ftl);
/* A sector in its zone's write buffer, with its tuple behind it. Harts idle. */
uint8_t *rig_buffered(struct ftl *ftl, uint32_t zone, uint32_t offset);
/* Sectors read by a worker for the host. Harts idle. */
uint64_t rig_reads_of(struct ftl *ftl, uint32_t worker);
/* A zone's condition (enum zone_condition: SOUND, BROKEN, FAILED, EMPTIED); how many there are. */
uint8_t rig_condition(struct ftl *ftl, uint32_t zone);
enum { RIG_CONDITIONS = 4 };
/* Is that change drawn in base/zone.h? And make it. */
bool rig_can_become(uint8_t from, uint8_t to);
void rig_become(struct ftl *ftl, uint32_t zone, uint8_t condition);
/* The map shard of a zone. */
uint32_t rig_shard_of(struct ftl *ftl, uint32_t zone);
/* Flush the L2P log now, in any state of the data. */
void rig_merge_map(struct ftl *ftl);
/* Until the end of the next pass the L2P log takes nothing. */
void rig_close_map_log(struct ftl *ftl);
/* Its entries. */
uint64_t rig_map_log_used(struct ftl *ftl);
/* From now on the map finds no free run for staged sectors (flash_runs.h). */
void rig_waste_runs(struct ftl *ftl);
/* Map in RAM: table pages of the zone with entries not made since mount (l2p_internal.h). */
uint32_t rig_unmade_pages(struct ftl *ftl, uint32_t zone);
/* Members of the map's interfaces left empty by an implementation. */
uint32_t rig_empty_map_members(void);
/* How many zones have a list of their staged sectors (zone_map.h). */
uint32_t rig_lists_held(struct ftl *ftl);
/* … gives no zone a new list, from now on; or does so again. */
void rig_waste_lists(struct ftl *ftl, bool waste);
/* Lists hashed so that memory does not grow with the device become one list of each shard from now on: changed entries of conventional
 * zones and the cache's nodes, by their table page. */
void rig_crowd_lists(struct ftl *ftl);
/* Dirty table pages (flash_log.h), without the rest of the log. Pages are numbered zone by zone. */
void rig_dirty(struct ftl *ftl, uint32_t zone, uint32_t page);
void rig_dirty_begin(struct ftl *ftl);
/* The next one, now clean, as zone * pages + page; UINT32_MAX: none. */
uint32_t rig_dirty_take(struct ftl *ftl, uint32_t pages);
const char *rig_dirty_check(struct ftl *ftl);
/* The version in a checkpoint of a copy with this sequence number; it is stored for a conventional zone's page and read again. */
uint32_t rig_version(struct ftl *ftl, uint32_t page, uint64_t sequence);
/* A detached reset looks for the zone's staged sectors in the SLC log, block by block: has it passed this address? */
bool rig_sweep_has_passed(struct ftl *ftl, uint32_t zone, uint32_t ppa);
/* Calls look(arg) on worker 0, between all other events, until it returns false or has been called `times` times, at 50 ns each. One at
 * a time. */
void rig_watch(struct ftl *ftl, bool (*look)(void *arg), void *arg, uint32_t times);
/* The SLC collector has copied the zone's sector, and tells the owner so. */
void rig_collector_moved(struct ftl *ftl, uint32_t zone, uint32_t offset, uint32_t from, uint32_t to);
/* Entries of a line of the map's cache. */
uint32_t rig_map_line(struct ftl *ftl);
/* The lock of the map's shard. */
struct lt_lock *rig_map_lock(struct ftl *ftl, uint64_t lba);
/* The lock of a zone, by its index. */
struct lt_lock *rig_zone_lock(struct ftl *ftl, uint32_t zone);
/* No record of a zone reaches flash from now on: the zone table is lost. Harts idle. */
void rig_lose_table(struct ftl *ftl);
/* Power fails while nothing is in flight: the power-loss dump goes to flash. */
void rig_lose_power(struct tsu *tsu);
/* From now on who has looked up places of conventional sectors takes this lock, and releases it, before the next step. */
void rig_wait_after_look_ups(struct ftl *ftl, struct lt_lock *gate);
/* Collections that reached the reset of a backing zone. */
uint64_t rig_backing_resets(struct ftl *ftl);
/* Place of a conventional sector by the map. Harts idle. */
uint32_t rig_conventional_place(struct ftl *ftl, uint64_t lba);
/* Erased backing zones. */
uint64_t rig_erased_zones(const struct ftl *ftl);
/* As if lost copies had made a place of the zone valid again that the first collector is about to erase. False: there is none. */
bool rig_return_copy(struct ftl *ftl);
/* Backing zones to which lost copies have returned since their last collection began. */
uint32_t rig_zones_with_returned_copies(const struct ftl *ftl);
/* The same as a write asks for it that chooses its stream: any time, the map's lock not held. */
uint32_t rig_conventional_hint(struct ftl *ftl, uint64_t lba);
/* Backing zones that are partly written and that no write frontier fills. Harts idle. */
uint32_t rig_left_partly_written(struct ftl *ftl);
/* Of a place: its entry of the reverse map; the word with its validity, and its bit; number of valid places in its zone. */
uint32_t *rig_reverse(struct ftl *ftl, uint32_t place);
lt_word *rig_validity(struct ftl *ftl, uint32_t place, uint64_t *bit);
lt_word *rig_valid_places(struct ftl *ftl, uint32_t place);

#ifdef __cplusplus
}
#endif
#endif
