/* Write buffers: where accepted data wait until they are durable.
 *
 * All take the extent's lock as held. An extent is *bound* while it has buffer space; data then land at `landed`, leave in program units
 * to its place, and, if they must be durable before that, as copies to the SLC log. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_BUFFER_BUFFER_H
#define FTL_BUFFER_BUFFER_H

#include "base/context.h"
#include "base/extent.h"
#include "request/io.h"

struct arena;

void buffers_init(struct ftl *ftl, struct arena *arena);

/* --- binding --- */
/* Bound now? Else the extent waits, and is kicked when it is its turn; who has what it waits for is kicked too. */
bool buffer_take(struct ftl_worker *self, struct extent *ext);
/* After a kick: binds the extent if it has been granted what it waits for. */
void buffer_granted(struct extent *ext);
/* Requires buffer_quiet, and that nothing in it matters any more. */
void buffer_give(struct ftl_worker *self, struct extent *ext);
/* May memory change hands while something is under way? Else buffer_lend is not worth a call. */
static inline bool banks_are_lent(const struct ftl *ftl) { return ftl->cfg->buffer_release == HZ_RELEASE_TRANSFERRED; }
/* Bound, and somebody waits: what the extent has is somebody else's before buffer_quiet, if that can be. What is under way goes on. */
bool buffer_lend(struct ftl_worker *self, struct extent *ext);
/* Bound: not lent? */
bool buffer_has_memory(const struct extent *ext);
/* A write of the extent, which is bound, comes when others wait. Does it have to let them go first? */
bool buffer_refuse(struct ftl_worker *self, struct extent *ext);
/* Bound: does somebody wait for what the extent has? */
bool buffer_wanted(const struct extent *ext);
/* Bound: how many sectors have landed since? */
uint32_t buffer_used(const struct extent *ext);

/* --- landing; bound --- */
/* How many of the request's next `most` sectors land now, for which there is space from here on; 0: none, until a program has ended. */
uint32_t buffer_room(struct ftl_worker *self, struct extent *ext, const struct ftl_request *req, uint32_t most);
/* Copies so many of them; their OOB records, which may be changed before they have landed. */
struct hz_oob *buffer_copy_in(struct extent *ext, const struct ftl_request *req, uint32_t sectors);
/* They count as landed. landed_ns: when they will have crossed the link; they are not programmed before. */
void buffer_landed(struct ftl_worker *self, struct extent *ext, uint32_t sectors, uint64_t landed_ns);
/* Is there a program unit with some data that is not complete? */
bool buffer_partial(const struct extent *ext);
/* Complete it with padding, so that it can be programmed (zone finish, or capacity reached). */
void buffer_pad(struct ftl_worker *self, struct extent *ext);

/* --- on the way to flash --- */
/* Start programming what is complete. */
void buffer_program(struct ftl_worker *self, struct extent *ext);
void units_stage(struct ftl_worker *self, struct extent *ext, bool gives_way);
/* Copy what is not to the SLC log if somebody waits for its durability (flush_to), or if the buffer must be given away. */
static inline void buffer_stage(struct ftl_worker *self, struct extent *ext, bool gives_way)
{
	if (gives_way || ext->flush_to > ext->staged)
		units_stage(self, ext, gives_way);
}
/* FTL_FOLD, no lock held: the table page that the look-up waited for has come, or there may be room to ask for it. */
void fold_run(struct ftl_worker *self, struct ftl_request *req);
/* Nothing is on its way to flash; so it is if the extent is not bound. */
bool buffer_quiet(const struct extent *ext);
/* Bound, nothing is being programmed, and something is complete. */
bool buffer_ready(const struct extent *ext);
/* After a move to another superblock: what was being programmed when a program failed must be programmed anew. */
void buffer_restart(struct extent *ext);

/* Resident sectors, which go to the request's next ones. */
void buffer_copy_out(const struct extent *ext, struct ftl_request *req, uint32_t offset, uint32_t sectors);

/* --- all of them, by number, and what was lent: what a flush goes through; no lock held --- */
uint32_t buffer_count(const struct ftl *ftl);
/* The first one that a backing zone can be bound to, or any zone. */
uint32_t buffer_first(const struct ftl *ftl, bool backing);
/* Who is bound to it, or NULL. */
struct extent *buffer_owner(struct ftl *ftl, uint32_t index);
/* Everybody who is bound to one looks at it soon. Any lock but BUFFER. */
void buffers_kick(struct ftl_worker *self);
/* Harts idle: NULL or one sentence. */
const char *buffers_check(struct ftl *ftl);

/* On capacitors: what is protected in the write buffers comes to flash (selective power-loss protection, Yang et al. 2022, 4.5).
 *
 * Balanced: every sector goes, with its address in its OOB record, to the die that is free first, into SLC superblocks kept for it. Mount
 * finds it there like any staged sector, and the zone is brought to its place as soon as the harts run (extent.program_to). */

struct arena;
struct extent;

/* After buffers and SLC log. */
void keep_init(struct ftl *ftl, struct arena *arena);
/* Mount, after a run that was killed: sectors [at, at + count) of the zone, no more than a program of the SLC log, lie at these places of
 * the memory that capacitors keep alive (nand.h, kept), and are programmed now as they would have been then, in no time. Where they are;
 * PPA_NONE: there is no room. */
ppa_t keep_belated(struct ftl *ftl, const struct extent *ext, uint32_t at, uint32_t count, const uint32_t *place);

#endif
