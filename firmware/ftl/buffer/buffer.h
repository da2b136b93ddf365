/* Write buffers: where accepted data wait until they are durable.
 *
 * All take the zone's lock as held. A zone is *bound* while it has buffer space; data then land at `landed`, leave in program units
 * to its place, and, if they must be durable before that, as copies to the SLC log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BUFFER_BUFFER_H
#define FTL_BUFFER_BUFFER_H

#include "base/context.h"
#include "base/zone.h"
#include "request/io.h"

struct arena;

void buffers_init(struct ftl *ftl, struct arena *arena);

/* --- binding --- */
/* Bind the zone; false: it is queued, and kicked when its turn comes. The present owner is kicked too. */
bool buffer_take(struct ftl_worker *self, struct zone *zone);
/* After a kick: bind the zone if its buffer has been granted. */
void buffer_granted(struct zone *zone);
/* Release the buffer. Requires buffer_quiet; its content is dropped. */
void buffer_give(struct ftl_worker *self, struct zone *zone);
/* May memory change hands while something is under way? Else buffer_lend is not worth a call. */
static inline bool banks_are_lent(const struct ftl *ftl) { return ftl->cfg->buffer_release == HZ_RELEASE_TRANSFERRED; }
/* Bound and wanted: hand the memory over before buffer_quiet, if possible. Programs in flight go on. */
bool buffer_lend(struct ftl_worker *self, struct zone *zone);
/* Bound: not lent? */
bool buffer_has_memory(const struct zone *zone);
/* For a write to a bound zone while others wait: true if the write must let them go first. */
bool buffer_refuse(struct ftl_worker *self, struct zone *zone);
/* Bound: true if another zone waits for this buffer. */
bool buffer_wanted(const struct zone *zone);
/* Bound: how many sectors have landed since? */
uint32_t buffer_used(const struct zone *zone);

/* --- landing; bound --- */
/* Number of the request's next sectors, at most `most`, with space to land now; 0: none until a program has ended. */
uint32_t buffer_room(struct ftl_worker *self, struct zone *zone, const struct ftl_request *req, uint32_t most);
/* Copy that number of sectors in. Returns their OOB records, which may be changed before the sectors have landed. */
struct hz_oob *buffer_copy_in(struct zone *zone, const struct ftl_request *req, uint32_t sectors);
/* By buffer slot of a collector's copy that is not on flash yet: the place of its original. Backing zones only. */
uint32_t *buffer_origins(const struct zone *zone);
/* They count as landed. landed_ns: when they will have crossed the link; they are not programmed before. */
void buffer_landed(struct ftl_worker *self, struct zone *zone, uint32_t sectors, uint64_t landed_ns);
/* True if a program unit has data but is incomplete. */
bool buffer_partial(const struct zone *zone);
/* Pad the partial unit, so that it can be programmed (zone finish, or capacity reached). */
void buffer_pad(struct ftl_worker *self, struct zone *zone);

/* --- on the way to flash --- */
/* Start to program complete units. */
void buffer_program(struct ftl_worker *self, struct zone *zone);
void units_stage(struct ftl_worker *self, struct zone *zone, bool gives_way);
/* Copy the rest to the SLC log if a request waits for its durability (flush_to), or if the buffer must be given away. */
static inline void buffer_stage(struct ftl_worker *self, struct zone *zone, bool gives_way)
{
	if (gives_way || zone->flush_to > zone->staged)
		units_stage(self, zone, gives_way);
}
/* FTL_FOLD, no lock held: the table page of the look-up has arrived, or there may be room to fetch it. */
void fold_run(struct ftl_worker *self, struct ftl_request *req);
/* Nothing is on its way to flash; so it is if the zone is not bound. */
bool buffer_quiet(const struct zone *zone);
/* Bound, nothing is being programmed, and something is complete. */
bool buffer_ready(const struct zone *zone);
/* After a move to another superblock: reprogram the units in flight when a program failed. */
void buffer_restart(struct zone *zone);

/* Copy resident sectors to the request's next ones. */
void buffer_copy_out(const struct zone *zone, struct ftl_request *req, uint32_t offset, uint32_t sectors);

/* --- all buffers by number, and lent memory, for a flush; no lock held --- */
uint32_t buffer_count(const struct ftl *ftl);
/* First buffer for backing zones, or for zones of the namespace. */
uint32_t buffer_first(const struct ftl *ftl, bool backing);
/* Zone bound to it, or NULL. */
struct zone *buffer_owner(struct ftl *ftl, uint32_t index);
/* Kick every bound zone. Any lock but BUFFER. */
void buffers_kick(struct ftl_worker *self);
/* Harts idle: NULL or one sentence. */
const char *buffers_check(struct ftl *ftl);

/* --- parity over the dies of a superblock (rain; parity.c, docs/internals/redundancy.md) ---
 *
 * Of the units of a row (one for each plane) those on planes of the same number are a *stripe*, with one unit of each die. One die of each
 * superblock has the parity: in its blocks, unit by unit, the exclusive or of the others. The parity of the row that a zone is in is in
 * its write buffer; it is programmed together with the row's last unit, and no sector of that unit counts as placed before. A row that
 * ends early, at the end of a zone, has the parity of what is there. */

/* Clock frozen: the time is charged. A sector and the flags of its record count: the same once more, and they do not. */
void parity_mix(uint8_t *into, uint16_t *flags, const uint8_t *sector, const struct hz_oob *record);
/* Clears that many sectors of parity, and the flags of their records. The clock is frozen. */
void parity_clear(uint8_t *const *memory, struct hz_oob *oob, uint32_t sectors);
/* Record of a sector of a row's parity. offset: of the row in its zone, plus the sector's number in the parity. The row's units up to `end`
 * count. */
struct hz_oob parity_record(const struct zone *zone, uint32_t offset, uint32_t end, uint16_t flags);
/* The stripe's parity so far, if its row is being written: sectors from at->sector on are combined into memory[], flags of their records
 * into flags[]. Of the stripe, that is what is placed: what is being programmed does not count. */
bool parity_in_memory(const struct zone *zone, const struct flash_stripe_at *at, uint32_t sectors, uint8_t *const *memory, uint16_t *flags);
/* Finish of a zone in the middle of a row, everything landed is placed: true once the row's parity is on flash, or will not be. False: a
 * later pump asks again. */
bool parity_closed(struct ftl_worker *self, struct zone *zone);

/* On capacitors: protected sectors of the write buffers are programmed (selective power-loss protection, Yang et al. 2022, 4.5).
 *
 * Balanced: every sector goes, with its address in its OOB record, to the first free die, into reserved SLC superblocks. Mount finds it
 * there like any staged sector, and moves the zone to its final place as soon as the harts run (zone.program_to). */

struct zone;

/* After buffers and SLC log. */
void dump_init(struct ftl *ftl, struct arena *arena);
/* Mount after a killed run: program sectors [at, at + count) of the zone, at most one program of the SLC log, from these places of the
 * memory kept alive by capacitors (nand.h, kept), as they would have been at the power cut, in zero time. Returns their address;
 * PPA_NONE: no room. */
ppa_t dump_belated(struct ftl *ftl, const struct zone *zone, uint32_t at, uint32_t count, const uint32_t *place);

#endif
