/* Waiting transactions of one die: a FIFO per class and plane, and the choice of what runs next.
 *
 * Classes in order of priority: mapping, host reads, host writes, GC and fold, erases. With read_age_limit_ns = 0 there is one class:
 * strict FIFO. Otherwise a transaction that has waited longer than the limit goes before younger ones of better classes, so nothing
 * starves. A write (program or erase) joins the class of the writes already waiting for its block, so their order holds; a read of a
 * sector whose program or erase is still to come queues behind it. All calls are O(classes * planes of a die). */
#ifndef TSU_DIE_QUEUE_H
#define TSU_DIE_QUEUE_H

#include "tsu/tsu_timing.h"

enum tsu_class { CLASS_MAP, CLASS_HOST_READ, CLASS_HOST_WRITE, CLASS_GC, CLASS_ERASE, TSU_CLASSES };

struct txn_fifo { struct tsu_txn *head, *tail; };
/* Submitted and not ended. reads: those that an erase must await, since they do not wait for a write themselves. */
struct block_order { uint16_t writes, reads; uint8_t erases, write_class; };

/* What the queues of all dies share. */
struct queue_rules {
	const struct tsu_timing *timing;
	struct nand *nand;
	struct block_order *order;     /* by flat block */
	uint64_t age_limit_ns;
	uint32_t planes, blocks_per_plane;
};
struct die_queue {
	struct txn_fifo *fifo;         /* [class * planes + plane] */
	uint32_t classes;              /* bit per class that holds something */
	uint16_t filled[TSU_CLASSES];  /* bit per plane */
	uint32_t short_ops;            /* waiting reads and erases: a command without data */
	uint32_t urgent_reads;         /* waiting reads for which a program may be suspended */
	uint64_t steps;                /* list heads looked at */
};

void die_queue_init(struct die_queue *queue, struct arena *arena, const struct queue_rules *rules);
void die_queue_add(struct die_queue *queue, const struct queue_rules *rules, struct tsu_txn *txn);
/* Take out what the die should do at now_ns: a list by `next` of one transaction, and those for its other planes that may run with
 * it (same class, operation, cell type, and page or unit offset). NULL if nothing is ready. reads_only: a program is suspended. */
struct tsu_txn *die_queue_take(struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns, bool reads_only);
/* The transaction has ended: its block's order is released. */
void die_queue_ended(const struct queue_rules *rules, const struct tsu_txn *txn);

static inline bool txn_is_urgent(const struct tsu_txn *txn)
{
	return txn->op == TSU_READ && !txn->follows && txn->priority <= CLASS_HOST_READ;
}
static inline uint64_t txn_ready_ns(const struct tsu_txn *txn)
{
	return txn->not_before_ns > txn->submit_ns ? txn->not_before_ns : txn->submit_ns;
}

#endif
