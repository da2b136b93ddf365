/* The bus of a channel: one transfer at a time, commands first, then data, each in the order of readiness. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "tsu/tsu_channel.h"

#include "tsu/tsu_state.h"

uint64_t channel_use(struct tsu_channel *channel, uint64_t start_ns, uint64_t ns)
{
	start_ns = latest_ns(start_ns, channel->usage.free_ns);
	usage_add(&channel->usage, start_ns, start_ns + ns);
	return start_ns;
}

static void enqueue(struct wait_fifo *fifo, struct bus_wait *wait)
{
	wait->next = NULL;
	if (fifo->head)
		fifo->tail->next = wait;
	else
		fifo->head = wait;
	fifo->tail = wait;
}

static struct bus_wait *dequeue(struct tsu_channel *channel)
{
	struct wait_fifo *fifo = &channel->waiting[channel->waiting[WISH_COMMAND].head ? WISH_COMMAND : WISH_DATA];
	struct bus_wait *wait = fifo->head;

	fifo->head = wait->next;
	return wait;
}

static bool die_waits(const struct tsu_channel *channel) { return channel->waiting[WISH_COMMAND].head || channel->waiting[WISH_DATA].head; }

bool channel_is_wanted(const struct tsu_channel *channel, uint64_t at_ns) { return die_waits(channel) || channel->usage.free_ns > at_ns; }

static void arm_bus(struct tsu_channel *channel)
{
	channel->armed = true;
	channel->heard = false;
	wheel_add(&channel->thread->wheel, &channel->bus_free, channel->usage.free_ns);
}

HZ_FROZEN void channel_request(struct tsu_channel *channel, struct bus_wait *wait, enum bus_wish wish, uint64_t ready_ns)
{
	wait->ready_ns = ready_ns;
	if (!channel->armed && channel->usage.free_ns <= ready_ns) {
		wait->granted(wait, ready_ns);
		return;
	}
	enqueue(&channel->waiting[wish], wait);
	if (!channel->armed)
		arm_bus(channel);
}

/* The die's use of the bus is chosen now, not at the begin of its wait: a read that came meanwhile may go first. */
static HZ_FROZEN void channel_bus_free(struct wheel_node *node)
{
	struct tsu_channel *channel = TSU_CONTAINER(node, struct tsu_channel, bus_free);

	/* A die with data just transferred may request its next command at this instant, and commands go before data: once round. */
	if (!channel->heard) {
		channel->heard = true;
		wheel_add(&channel->thread->wheel, node, node->at_ns);
		return;
	}
	while (die_waits(channel) && channel->usage.free_ns <= node->at_ns) {
		struct bus_wait *wait = dequeue(channel);

		channel->thread->steps++;
		wait->granted(wait, latest_ns(wait->ready_ns, node->at_ns));
	}
	channel->armed = false;
	if (die_waits(channel))
		arm_bus(channel);
}

void channel_init(struct tsu_channel *channel, struct tsu_thread *thread, uint64_t now_ns)
{
	channel->thread = thread;
	channel->bus_free.fire = channel_bus_free;
	channel->usage.free_ns = now_ns;
}
