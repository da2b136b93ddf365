/* Waiting transactions of one die: a FIFO per lane and plane, and the choice of the next one.
 *
 * Lanes depend on the schedule. Priority: a class, in the order mapping, host reads, host writes, GC and fold, erases; the first one
 * with a ready transaction goes. FIFO: there is one lane. Fair: a stream; the lane with the least die time used goes (start-time fair
 * queueing, Goyal, Vin and Cheng 1996), so n busy lanes get 1/n each. With read_age_limit_ns a transaction that has waited longer goes
 * before younger ones of better lanes, so nothing starves; fair lanes do not starve without a limit either. A write (program or erase)
 * joins the lane of the writes already waiting for its block, so their order holds; a read of a sector with a pending program or erase
 * queues behind it.
 *
 * Transactions run together on several planes may have others ahead of them: a read passes reads of its plane submitted with those of
 * the same program unit, or soon after (`reach`). All calls are O(lanes * planes of a die), taking one out O(reach) for each plane. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_DIE_QUEUE_H
#define TSU_DIE_QUEUE_H

#include "tsu/tsu_timing.h"

enum tsu_class { CLASS_MAP, CLASS_HOST_READ, CLASS_HOST_WRITE, CLASS_GC, CLASS_ERASE, TSU_CLASSES };

/* Fair: lane 0 is the device's own work, then host reads by queue, then host writes by zone. */
enum { FAIR_READ_LANES = 7, FAIR_WRITE_LANES = 8, TSU_MAX_LANES = 1 + FAIR_READ_LANES + FAIR_WRITE_LANES };

/* The die's state limits the choice. A cached operation follows only one of its own kind. */
enum take { TAKE_ANY, TAKE_READ, TAKE_PROGRAM, TAKE_WHILE_SUSPENDED };

struct txn_fifo {
	struct tsu_txn *head, *tail;
};
/* Submitted and not ended. reads: an erase must await them; followers: reads waiting for a write in its lane; later writes must queue
 * behind them even when that write has ended. */
struct block_order {
	uint16_t writes, reads, followers;
	uint8_t erases, write_lane;
};

/* Shared by the queues of all dies. */
struct queue_rules {
	const struct tsu_timing *timing;
	struct nand *nand;
	struct block_order *order; /* by flat block */
	uint64_t age_limit_ns;     /* UINT64_MAX = none */
	uint32_t planes, blocks_per_plane;
	uint32_t reach; /* reads of a die's program unit */
	uint32_t lanes;
	uint8_t schedule; /* enum hz_schedule */
};
struct die_queue {
	struct txn_fifo *fifo;           /* [lane * planes + plane] */
	uint32_t busy_lanes;             /* bit per non-empty lane */
	uint16_t filled[TSU_MAX_LANES];  /* bit per plane */
	uint64_t used_ns[TSU_MAX_LANES]; /* fair: die time on the common virtual clock */
	uint64_t virtual_ns;             /* fair: used_ns of the last lane, before it went */
	uint32_t short_ops;              /* waiting reads and erases: a command without data */
	uint32_t urgent_reads;           /* waiting reads that may suspend a program */
	uint64_t steps;                  /* list heads looked at */
};

void die_queue_init(struct die_queue *queue, struct arena *arena, const struct queue_rules *rules);
void die_queue_add(struct die_queue *queue, const struct queue_rules *rules, struct tsu_txn *txn);
/* Next transaction at now_ns, NULL if none is ready or `take` forbids it. */
struct tsu_txn *die_queue_next(struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns, enum take take);
/* Take it out: a list by `next` of one transaction, and its possible partners on other planes (same lane, operation, cell type, and page
 * or unit offset). */
struct tsu_txn *die_queue_take(struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns, enum take take);
/* Of reads just taken while a write is suspended, those that must see a write return to the heads of their planes: the suspended write
 * has left the queue, so its reader may be a head and a partner. Frozen, so that no other choice costs an instruction more. */
void die_queue_leave_followers(struct die_queue *queue, const struct queue_rules *rules, struct tsu_txn *first);
/* Time after now_ns when the first waiting program has its data; UINT64_MAX: none waits. Of the heads of lanes. */
uint64_t die_queue_ready_ns(const struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns);
/* The transaction has ended: its block's order is released. */
void die_queue_ended(const struct queue_rules *rules, const struct tsu_txn *txn);

static inline bool txn_is_urgent(const struct tsu_txn *txn) { return txn->urgent; }
static inline uint64_t txn_ready_ns(const struct tsu_txn *txn)
{
	return txn->not_before_ns > txn->submit_ns ? txn->not_before_ns : txn->submit_ns;
}

#endif
