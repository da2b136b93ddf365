/* Register link: what a record asks for. A function of its own for each call from control_link.c, which may run on the host's processor,
 * while what the record does runs in the guest. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/host/control_link.h"

#include <string.h>

#include "nvme.h"

enum {
	RECORD = sizeof(struct hz_link_message),
	MAP_END = NVME_REG_CRTO + 4,
	DOORBELLS_END = NVME_REG_DOORBELLS + (HZ_MAX_IO_QUEUES + 1) * 8,
};

bool control_link_legal(const struct hz_link_message *m)
{
	uint64_t end = (uint64_t)m->offset + m->size;

	if (m->type != HZ_LINK_READ && m->type != HZ_LINK_WRITE)
		return false;
	if ((m->size != 4 && m->size != 8) || (m->offset & 3))
		return false;
	return end <= MAP_END || (m->offset >= NVME_REG_DOORBELLS && end <= DOORBELLS_END);
}

static void link_answer(struct control_link *link, const struct hz_link_message *ask)
{
	const struct link_client *client = &link->client;
	struct hz_link_message reply = *ask;
	bool ok;

	if (ask->type == HZ_LINK_READ) {
		ok = client->read(client->ctx, ask->offset, ask->size, &reply.value);
		reply.type = ok ? HZ_LINK_VALUE : HZ_LINK_ERROR;
	} else {
		ok = client->write(client->ctx, ask->offset, ask->size, ask->value);
		reply.type = ok ? HZ_LINK_DONE : HZ_LINK_ERROR;
	}
	control_link_put(link, &reply);
}

static void link_hang_up(struct control_link *link)
{
	link->in_bytes = link->out_bytes = 0;
	link->gone = true;
	interrupts_drop(link->irq);
	link->client.hung_up(link->client.ctx);
}

static bool link_is_read(const struct hz_link_message *message) { return message->type == HZ_LINK_READ && control_link_legal(message); }

HZ_FROZEN bool control_link_answer_read(struct control_link *link)
{
	struct hz_link_message message;

	memcpy(&message, link->in, RECORD);
	if (!link_is_read(&message))
		return false;
	link->in_bytes = 0;
	link_answer(link, &message);
	return true;
}

HZ_FROZEN bool control_link_act(struct control_link *link)
{
	struct hz_link_message message;

	link->overdue = false;
	if (link->lost) {
		link->lost = false;
		link_hang_up(link);
		return true;
	}
	if (link->in_bytes < RECORD || control_link_full(link))
		return false;
	link->in_bytes = 0;
	memcpy(&message, link->in, RECORD);
	if (control_link_legal(&message)) {
		link_answer(link, &message);
		control_link_flush(link);
	} else {
		link->host->port.close(link->host->port.ctx);
		link_hang_up(link);
	}
	return true;
}
