/* Banks: the memory of superpage buffers, and how zones take it from each other.
 *
 * * fair: who waits is in a queue, and gets the bank when it is given away.
 * * polled: who finds it taken asks again after `buffers.poll`, and so does its last owner; who asks first gets it.
 * * kept: as fair, but an owner that goes on writing has it until the zone is full. Backing zones give way to each other all the same.
 *
 * With `buffers.release: transferred` a zone lends the bank as soon as the dies' registers have all that is in it. What is under way stays
 * in its write_buffer, which stands for the registers, and the bank's next owner fills a spare one. There are two for each die: as many
 * programs can be there. If none is spare, the bank stays until something has been programmed. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_HANDOVER_H
#define FTL_HANDOVER_H

#include "base/context.h"
#include "base/waiter.h"
#include "buffer/idle.h"

struct arena;

struct bank {
	struct idle_watch idle; /* first: leads back to its bank */
	uint32_t index;
	struct extent *owner;         /* class BUFFER */
	struct waiter_queue queue;    /* class BUFFER: who waits for it */
	lt_word waiting;              /* how many; a hint outside the lock */
	lt_word fill;                 /* sectors not yet durable: what eviction policies look at */
	struct write_buffer *at_hand; /* owner's: for the next one, unless that has a buffer */
};

/* A zone that asks again; under its lock. */
struct poll {
	struct lt_timer timer; /* first: leads back to its zone */
	struct extent *ext;
	struct ftl_worker *worker; /* on whose hart the timer runs */
	uint64_t next_ns;          /* no sooner */
	struct bank *waits;        /* counted there */
	bool armed, asked;
};

/* Extent's lock held for all of them. */
/* Bound to a buffer with a bank now? Else the extent waits. */
bool bank_take(struct ftl_worker *self, struct extent *ext);
/* After a kick: binds the extent to what it has been granted. */
void bank_granted(struct extent *ext);
/* Nothing is under way any more: buffer, and bank if it has one, are somebody else's. */
void bank_give(struct ftl_worker *self, struct extent *ext);
/* True: the bank is somebody else's; what is under way stays with the extent. */
bool bank_lend(struct ftl_worker *self, struct extent *ext);
/* A write of the owner comes when others wait. True: it has to give way, and asks again later, as others do. */
bool bank_refuse(struct ftl_worker *self, struct extent *ext);

void handover_init(struct ftl *ftl, struct arena *arena);

#endif
