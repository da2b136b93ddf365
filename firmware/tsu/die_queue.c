/* Waiting transactions of one die. */
#include "tsu/die_queue.h"

#include "lt/arena.h"
#include "tsu/bits.h"

void die_queue_init(struct die_queue *queue, struct arena *arena, const struct queue_rules *rules)
{
	queue->fifo = arena_alloc(arena, (size_t)TSU_CLASSES * rules->planes, sizeof(*queue->fifo), "die queues");
}

static uint8_t natural_class(const struct tsu_txn *txn)
{
	if (txn->op == TSU_ERASE)
		return CLASS_ERASE;
	switch (txn->cause) {
	case HZ_CAUSE_MAP: return CLASS_MAP;
	case HZ_CAUSE_FOLD:
	case HZ_CAUSE_GC: return CLASS_GC;
	default: return txn->op == TSU_READ ? CLASS_HOST_READ : CLASS_HOST_WRITE;
	}
}

/* What the sector will hold is among the waiting writes. */
static bool reads_the_future(const struct queue_rules *rules, const struct tsu_txn *txn, const struct block_order *order)
{
	if (order->erases)
		return true;
	return order->writes &&
	       rules->nand->ops->block(rules->nand, txn->addr)->write_sector < (uint32_t)txn->addr.sector + txn->sectors;
}

static void note_read(const struct queue_rules *rules, struct tsu_txn *txn, struct block_order *order)
{
	txn->follows = reads_the_future(rules, txn, order);
	if (txn->follows)
		txn->priority = order->write_class;
	else
		order->reads++;
}

static void note_write(struct tsu_txn *txn, struct block_order *order)
{
	if (order->writes++ == 0)
		order->write_class = txn->priority;
	txn->priority = order->write_class;
	order->erases += txn->op == TSU_ERASE;
}

void die_queue_add(struct die_queue *queue, const struct queue_rules *rules, struct tsu_txn *txn)
{
	struct block_order *order = &rules->order[txn->flat_block];
	struct txn_fifo *fifo;

	txn->priority = rules->age_limit_ns ? natural_class(txn) : 0;
	if (txn->op == TSU_READ)
		note_read(rules, txn, order);
	else
		note_write(txn, order);
	fifo = &queue->fifo[txn->priority * rules->planes + txn->addr.plane];
	txn->next = NULL;
	if (fifo->head)
		fifo->tail->next = txn;
	else
		fifo->head = txn;
	fifo->tail = txn;
	queue->filled[txn->priority] |= (uint16_t)(1u << txn->addr.plane);
	queue->classes |= 1u << txn->priority;
	queue->urgent_reads += txn_is_urgent(txn);
	queue->short_ops += txn->op != TSU_PROGRAM;
}

void die_queue_ended(const struct queue_rules *rules, const struct tsu_txn *txn)
{
	struct block_order *order = &rules->order[txn->flat_block];

	if (txn->op == TSU_READ) {
		order->reads -= !txn->follows;
		return;
	}
	order->writes--;
	order->erases -= txn->op == TSU_ERASE;
}

static struct tsu_txn *remove_head(struct die_queue *queue, const struct queue_rules *rules, unsigned priority, unsigned plane)
{
	struct txn_fifo *fifo = &queue->fifo[priority * rules->planes + plane];
	struct tsu_txn *txn = fifo->head;

	fifo->head = txn->next;
	if (!fifo->head) {
		queue->filled[priority] &= (uint16_t)~(1u << plane);
		if (!queue->filled[priority])
			queue->classes &= ~(1u << priority);
	}
	txn->next = NULL;
	queue->urgent_reads -= txn_is_urgent(txn);
	queue->short_ops -= txn->op != TSU_PROGRAM;
	return txn;
}

static bool may_run(const struct queue_rules *rules, const struct tsu_txn *txn, uint64_t now_ns)
{
	if (txn->not_before_ns > now_ns && txn->not_before_ns > txn->submit_ns)
		return false;
	return txn->op != TSU_ERASE || !rules->age_limit_ns || rules->order[txn->flat_block].reads == 0;
}

/* Oldest head of the class that may run. */
static struct tsu_txn *oldest_of(struct die_queue *queue, const struct queue_rules *rules, unsigned priority, uint64_t now_ns,
				 bool reads_only)
{
	struct tsu_txn *oldest = NULL;

	for (unsigned planes = queue->filled[priority]; planes; planes &= planes - 1) {
		struct tsu_txn *head = queue->fifo[priority * rules->planes + lowest_bit(planes)].head;

		queue->steps++;
		if (reads_only && (head->op != TSU_READ || head->follows))
			continue;
		if (may_run(rules, head, now_ns) && (!oldest || head->order < oldest->order))
			oldest = head;
	}
	return oldest;
}

/* Priority by class, unless something older has waited too long. */
static struct tsu_txn *choose(struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns, bool reads_only)
{
	struct tsu_txn *best = NULL;

	for (unsigned classes = queue->classes; classes; classes &= classes - 1) {
		struct tsu_txn *txn = oldest_of(queue, rules, lowest_bit(classes), now_ns, reads_only);

		if (!txn)
			continue;
		if (!best || (txn->order < best->order && now_ns > txn->submit_ns + rules->age_limit_ns))
			best = txn;
	}
	return best;
}

static bool may_join(const struct queue_rules *rules, const struct tsu_txn *first, const struct tsu_txn *txn, uint64_t now_ns)
{
	const struct tsu_timing *timing = rules->timing;

	if (txn->op != first->op || tsu_is_normal(timing, txn) != tsu_is_normal(timing, first) || !may_run(rules, txn, now_ns))
		return false;
	if (first->op == TSU_READ)
		return tsu_page_of(timing, txn) == tsu_page_of(timing, first);
	return first->op == TSU_ERASE || txn->addr.sector == first->addr.sector;
}

struct tsu_txn *die_queue_take(struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns, bool reads_only)
{
	struct tsu_txn *first = choose(queue, rules, now_ns, reads_only), *last;
	unsigned others;

	if (!first)
		return NULL;
	remove_head(queue, rules, first->priority, first->addr.plane);
	last = first;
	others = queue->filled[first->priority] & ~(1u << first->addr.plane);
	for (; others; others &= others - 1) {
		unsigned plane = lowest_bit(others);

		queue->steps++;
		if (!may_join(rules, first, queue->fifo[first->priority * rules->planes + plane].head, now_ns))
			continue;
		last->next = remove_head(queue, rules, first->priority, plane);
		last = last->next;
	}
	return first;
}
