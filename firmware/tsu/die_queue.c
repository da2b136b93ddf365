/* Waiting transactions of one die. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/die_queue.h"

#include "lt/arena.h"
#include "lt/bits.h"

void die_queue_init(struct die_queue *queue, struct arena *arena, const struct queue_rules *rules)
{
	queue->fifo = arena_alloc(arena, (size_t)rules->lanes * rules->planes, sizeof(*queue->fifo), "die queues");
}

static enum tsu_class class_of(const struct tsu_txn *txn)
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

static uint8_t fair_lane(const struct tsu_txn *txn)
{
	if (txn->op == TSU_ERASE || (txn->cause != HZ_CAUSE_HOST && txn->cause != HZ_CAUSE_SLC))
		return 0;
	if (txn->op == TSU_READ)
		return (uint8_t)(1 + txn->stream % FAIR_READ_LANES);
	return (uint8_t)(1 + FAIR_READ_LANES + txn->stream % FAIR_WRITE_LANES);
}

static uint8_t natural_lane(const struct queue_rules *rules, const struct tsu_txn *txn)
{
	switch (rules->schedule) {
	case HZ_SCHED_PRIORITY: return (uint8_t)class_of(txn);
	case HZ_SCHED_FAIR: return fair_lane(txn);
	default: return 0;
	}
}

/* True if the sector's coming content is among the waiting writes. */
static bool reads_the_future(const struct queue_rules *rules, const struct tsu_txn *txn, const struct block_order *order)
{
	if (order->erases)
		return true;
	return order->writes && rules->nand->ops->block(rules->nand, txn->addr)->write_sector < (uint32_t)txn->addr.sector + txn->sectors;
}

static void note_read(const struct queue_rules *rules, struct tsu_txn *txn, struct block_order *order)
{
	txn->follows = reads_the_future(rules, txn, order);
	if (txn->follows) {
		txn->lane = order->write_lane;
		order->followers++;
	} else {
		order->reads++;
	}
}

static void note_write(struct tsu_txn *txn, struct block_order *order)
{
	if (order->writes++ == 0 && order->followers == 0)
		order->write_lane = txn->lane;
	txn->lane = order->write_lane;
	order->erases += txn->op == TSU_ERASE;
}

static void lane_append(struct die_queue *queue, const struct queue_rules *rules, struct tsu_txn *txn)
{
	struct txn_fifo *fifo = &queue->fifo[txn->lane * rules->planes + txn->addr.plane];

	txn->next = NULL;
	if (fifo->head)
		fifo->tail->next = txn;
	else
		fifo->head = txn;
	fifo->tail = txn;
	/* A lane that comes back has no claim to its idle time. */
	if (!(queue->busy_lanes & 1u << txn->lane) && queue->used_ns[txn->lane] < queue->virtual_ns)
		queue->used_ns[txn->lane] = queue->virtual_ns;
	queue->filled[txn->lane] |= (uint16_t)(1u << txn->addr.plane);
	queue->busy_lanes |= 1u << txn->lane;
}

void die_queue_add(struct die_queue *queue, const struct queue_rules *rules, struct tsu_txn *txn)
{
	struct block_order *order = &rules->order[txn->flat_block];

	txn->lane = natural_lane(rules, txn);
	txn->follows = false;
	if (txn->op == TSU_READ)
		note_read(rules, txn, order);
	else
		note_write(txn, order);
	txn->urgent = txn->op == TSU_READ && !txn->follows && class_of(txn) <= CLASS_HOST_READ;
	lane_append(queue, rules, txn);
	queue->urgent_reads += txn->urgent;
	queue->short_ops += txn->op != TSU_PROGRAM;
}

HZ_FROZEN void die_queue_ended(const struct queue_rules *rules, const struct tsu_txn *txn)
{
	struct block_order *order = &rules->order[txn->flat_block];

	if (txn->op == TSU_READ) {
		order->reads -= !txn->follows;
		order->followers -= txn->follows;
		return;
	}
	order->writes--;
	order->erases -= txn->op == TSU_ERASE;
}

/* Remove *link: the head, or one behind it. */
static struct tsu_txn *remove_txn(struct die_queue *queue, const struct queue_rules *rules, unsigned lane, unsigned plane,
				  struct tsu_txn **link)
{
	struct txn_fifo *fifo = &queue->fifo[lane * rules->planes + plane];
	struct tsu_txn *txn = *link;

	*link = txn->next;
	if (!txn->next && fifo->head)
		fifo->tail = (struct tsu_txn *)((char *)link - offsetof(struct tsu_txn, next));
	if (!fifo->head) {
		queue->filled[lane] &= (uint16_t) ~(1u << plane);
		if (!queue->filled[lane])
			queue->busy_lanes &= ~(1u << lane);
	}
	txn->next = NULL;
	queue->urgent_reads -= txn->urgent;
	queue->short_ops -= txn->op != TSU_PROGRAM;
	return txn;
}

static bool awaits_data(const struct tsu_txn *txn, uint64_t now_ns)
{
	return txn->not_before_ns > now_ns && txn->not_before_ns > txn->submit_ns;
}

static bool may_run(const struct queue_rules *rules, const struct tsu_txn *txn, uint64_t now_ns)
{
	if (awaits_data(txn, now_ns))
		return false;
	return txn->op != TSU_ERASE || rules->schedule == HZ_SCHED_FIFO || rules->order[txn->flat_block].reads == 0;
}

uint64_t die_queue_ready_ns(const struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns)
{
	uint64_t first_ns = UINT64_MAX;

	for (unsigned lanes = queue->busy_lanes; lanes; lanes &= lanes - 1) {
		unsigned lane = lt_lowest_bit(lanes);

		for (unsigned planes = queue->filled[lane]; planes; planes &= planes - 1) {
			const struct tsu_txn *head = queue->fifo[lane * rules->planes + lt_lowest_bit(planes)].head;

			if (awaits_data(head, now_ns) && head->not_before_ns < first_ns)
				first_ns = head->not_before_ns;
		}
	}
	return first_ns;
}

static bool txn_allowed(const struct tsu_txn *txn, enum take take)
{
	return take != TAKE_WHILE_SUSPENDED || (txn->op == TSU_READ && !txn->follows);
}

/* Oldest eligible head of the lane. */
static struct tsu_txn *oldest_of(struct die_queue *queue, const struct queue_rules *rules, unsigned lane, uint64_t now_ns, enum take take)
{
	struct tsu_txn *oldest = NULL;

	for (unsigned planes = queue->filled[lane]; planes; planes &= planes - 1) {
		struct tsu_txn *head = queue->fifo[lane * rules->planes + lt_lowest_bit(planes)].head;

		queue->steps++;
		if (txn_allowed(head, take) && may_run(rules, head, now_ns) && (!oldest || head->order < oldest->order))
			oldest = head;
	}
	return oldest;
}

static bool is_overdue(const struct queue_rules *rules, const struct tsu_txn *txn, uint64_t now_ns)
{
	return now_ns > txn->submit_ns && now_ns - txn->submit_ns > rules->age_limit_ns;
}

/* a before b, both the oldest of their lanes? b comes of a lane with a smaller number: the better class, or first among equals. */
static bool goes_before(const struct die_queue *queue, const struct queue_rules *rules, const struct tsu_txn *a, const struct tsu_txn *b,
			uint64_t now_ns)
{
	if (is_overdue(rules, a, now_ns) || is_overdue(rules, b, now_ns))
		return is_overdue(rules, a, now_ns) && a->order < b->order;
	return rules->schedule == HZ_SCHED_FAIR && queue->used_ns[a->lane] < queue->used_ns[b->lane];
}

/* By lane, unless something older has waited too long. */
static struct tsu_txn *choose_txn(struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns, enum take take)
{
	struct tsu_txn *best = NULL;

	for (unsigned lanes = queue->busy_lanes; lanes; lanes &= lanes - 1) {
		struct tsu_txn *txn = oldest_of(queue, rules, lt_lowest_bit(lanes), now_ns, take);

		if (txn && (!best || goes_before(queue, rules, txn, best, now_ns)))
			best = txn;
	}
	return best;
}

struct tsu_txn *die_queue_next(struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns, enum take take)
{
	struct tsu_txn *first = choose_txn(queue, rules, now_ns, take);

	if (!first || (take == TAKE_READ && first->op != TSU_READ) || (take == TAKE_PROGRAM && first->op != TSU_PROGRAM))
		return NULL;
	return first;
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

/* May a transaction ahead in its plane wait for this read, run together with the first one? A read, submitted soon after the first. */
static bool lets_pass(const struct queue_rules *rules, const struct tsu_txn *first, const struct tsu_txn *txn)
{
	return first->op == TSU_READ && txn->op == TSU_READ && !txn->follows && txn->order - first->order < rules->reach;
}

/* The one to join in that plane; NULL: none. Reads of a program unit come together, plane by plane, so the partner of the first one is
 * often not the head, where another request has some of its pages. */
static struct tsu_txn **joins_at(struct die_queue *queue, const struct queue_rules *rules, const struct tsu_txn *first, unsigned plane,
				 uint64_t now_ns)
{
	struct tsu_txn **link = &queue->fifo[first->lane * rules->planes + plane].head;

	while (queue->steps++, *link && !may_join(rules, first, *link, now_ns)) {
		if (!lets_pass(rules, first, *link))
			return NULL;
		link = &(*link)->next;
	}
	return *link ? link : NULL;
}

/* Partners on the first one's other planes, linked behind it. */
static void gather_planes(struct die_queue *queue, const struct queue_rules *rules, struct tsu_txn *first, uint64_t now_ns)
{
	struct tsu_txn *last = first;
	unsigned others = queue->filled[first->lane] & ~(1u << first->addr.plane);

	for (; others; others &= others - 1) {
		unsigned plane = lt_lowest_bit(others);
		struct tsu_txn **link = joins_at(queue, rules, first, plane, now_ns);

		if (!link)
			continue;
		last->next = remove_txn(queue, rules, first->lane, plane, link);
		last = last->next;
	}
}

/* The lane pays for the cells once and for every member's data. Before the operation begins, so it pays the time without its spread:
 * lanes are equal in the mean, and the choice needs no draw. */
static void charge_lane(struct die_queue *queue, const struct queue_rules *rules, const struct tsu_txn *first)
{
	const struct tsu_timing *timing = rules->timing;
	uint64_t *used_ns = &queue->used_ns[first->lane];

	queue->virtual_ns = *used_ns;
	for (uint32_t pass = 0; pass < tsu_passes(timing, first); pass++) {
		*used_ns += tsu_array_ns(timing, first, pass);
		for (const struct tsu_txn *txn = first; txn; txn = txn->next)
			*used_ns += timing->cfg->command_ns + timing->transfer_ns[txn->sectors];
	}
}

struct tsu_txn *die_queue_take(struct die_queue *queue, const struct queue_rules *rules, uint64_t now_ns, enum take take)
{
	struct tsu_txn *first = die_queue_next(queue, rules, now_ns, take);

	if (!first)
		return NULL;
	remove_txn(queue, rules, first->lane, first->addr.plane, &queue->fifo[first->lane * rules->planes + first->addr.plane].head);
	gather_planes(queue, rules, first, now_ns);
	if (rules->schedule == HZ_SCHED_FAIR)
		charge_lane(queue, rules, first);
	return first;
}

static void put_back(struct die_queue *queue, const struct queue_rules *rules, struct tsu_txn *txn)
{
	const struct tsu_timing *timing = rules->timing;
	struct txn_fifo *fifo = &queue->fifo[txn->lane * rules->planes + txn->addr.plane];

	txn->next = fifo->head;
	if (!fifo->head)
		fifo->tail = txn;
	fifo->head = txn;
	queue->filled[txn->lane] |= (uint16_t)(1u << txn->addr.plane);
	queue->busy_lanes |= 1u << txn->lane;
	queue->short_ops++;
	if (rules->schedule == HZ_SCHED_FAIR)
		queue->used_ns[txn->lane] -= timing->cfg->command_ns + timing->transfer_ns[txn->sectors];
}

HZ_FROZEN void die_queue_leave_followers(struct die_queue *queue, const struct queue_rules *rules, struct tsu_txn *first)
{
	struct tsu_txn *txn;

	for (struct tsu_txn **link = &first->next; (txn = *link);) {
		if (!txn->follows) {
			link = &txn->next;
			continue;
		}
		*link = txn->next;
		put_back(queue, rules, txn);
	}
}
