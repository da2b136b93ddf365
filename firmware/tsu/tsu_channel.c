/* The bus of a channel: one transfer at a time, commands first, then data, each in the order of readiness. */
#include "tsu/tsu_state.h"

uint64_t channel_use(struct tsu_channel *channel, uint64_t start_ns, uint64_t ns)
{
	if (start_ns < channel->usage.free_ns)
		start_ns = channel->usage.free_ns;
	usage_add(&channel->usage, start_ns, start_ns + ns);
	return start_ns;
}

static void enqueue(struct die_fifo *fifo, struct tsu_die *die)
{
	die->next = NULL;
	if (fifo->head)
		fifo->tail->next = die;
	else
		fifo->head = die;
	fifo->tail = die;
}

static struct tsu_die *dequeue(struct tsu_channel *channel)
{
	struct die_fifo *fifo = &channel->waiting[channel->waiting[WISH_COMMAND].head ? WISH_COMMAND : WISH_DATA];
	struct tsu_die *die = fifo->head;

	fifo->head = die->next;
	return die;
}

static bool somebody_waits(const struct tsu_channel *channel)
{
	return channel->waiting[WISH_COMMAND].head || channel->waiting[WISH_DATA].head;
}

static void arm(struct tsu_channel *channel)
{
	channel->armed = true;
	wheel_add(&channel->thread->wheel, &channel->bus_free, channel->usage.free_ns);
}

void channel_request(struct tsu_channel *channel, struct tsu_die *die, enum bus_wish wish, uint64_t ready_ns)
{
	die->bus_ready_ns = ready_ns;
	if (!channel->armed && channel->usage.free_ns <= ready_ns) {
		die_bus_granted(die, ready_ns);
		return;
	}
	enqueue(&channel->waiting[wish], die);
	if (!channel->armed)
		arm(channel);
}

/* What a die does with the bus is chosen now, not when it began to wait: a read that came meanwhile may go first. */
void channel_bus_free(struct wheel_node *node)
{
	struct tsu_channel *channel = TSU_CONTAINER(node, struct tsu_channel, bus_free);

	while (somebody_waits(channel) && channel->usage.free_ns <= node->at_ns) {
		struct tsu_die *die = dequeue(channel);

		channel->thread->steps++;
		die_bus_granted(die, die->bus_ready_ns > node->at_ns ? die->bus_ready_ns : node->at_ns);
	}
	channel->armed = false;
	if (somebody_waits(channel))
		arm(channel);
}
