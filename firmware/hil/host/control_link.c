/* Register link. Bytes from the host are untrusted: a record in violation of register_link.h ends the connection and nothing else. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/host/control_link.h"

#include <string.h>

#include "nvme.h"

enum {
	RECORD = sizeof(struct hz_link_message),
	MAP_END = NVME_REG_CRTO + 4,
	DOORBELLS_END = NVME_REG_DOORBELLS + (HZ_MAX_IO_QUEUES + 1) * 8,
};

void control_link_init(struct control_link *link, struct host *host, struct interrupts *irq, const struct link_client *client)
{
	*link = (struct control_link){ .host = host, .irq = irq, .client = *client };
}

bool control_link_legal(const struct hz_link_message *m)
{
	uint64_t end = (uint64_t)m->offset + m->size;

	if (m->type != HZ_LINK_READ && m->type != HZ_LINK_WRITE)
		return false;
	if ((m->size != 4 && m->size != 8) || (m->offset & 3))
		return false;
	return end <= MAP_END || (m->offset >= NVME_REG_DOORBELLS && end <= DOORBELLS_END);
}

static bool link_out_full(const struct control_link *link) { return link->out_bytes + RECORD > sizeof(link->out); }

static void link_put(struct control_link *link, const struct hz_link_message *message)
{
	memcpy(link->out + link->out_bytes, message, RECORD);
	link->out_bytes += RECORD;
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
	link_put(link, &reply);
}

static void link_hang_up(struct control_link *link)
{
	link->in_bytes = link->out_bytes = 0;
	link->gone = true;
	interrupts_drop(link->irq);
	link->client.hung_up(link->client.ctx);
}

static void link_flush(struct control_link *link)
{
	const struct hil_port *port = &link->host->port;
	int sent;

	if (link->out_bytes == 0)
		return;
	sent = port->send(port->ctx, link->out, link->out_bytes);
	if (sent <= 0)
		return;
	link->out_bytes -= (uint32_t)sent;
	memmove(link->out, link->out + sent, link->out_bytes);
}

/* A whole record is in link->in. */
static bool link_has_record(struct control_link *link)
{
	const struct hil_port *port = &link->host->port;

	while (!link->lost && link->in_bytes < RECORD) {
		int got = port->recv(port->ctx, link->in + link->in_bytes, RECORD - link->in_bytes);

		if (got == 0)
			return false;
		link->lost = got < 0;
		if (link->lost)
			return false;
		link->gone = false;
		link->in_bytes += (uint32_t)got;
	}
	return link->in_bytes == RECORD;
}

static bool link_is_read(const struct hz_link_message *message) { return message->type == HZ_LINK_READ && control_link_legal(message); }

static void link_send_interrupts(struct control_link *link)
{
	for (unsigned vector = 0; vector < VECTORS && interrupts_any(link->irq); vector++) {
		struct hz_link_message message = { .type = HZ_LINK_IRQ, .offset = vector };

		if (!interrupts_due(link->irq, vector))
			continue;
		if (link_out_full(link))
			return;
		interrupts_sent(link->irq, vector);
		link_put(link, &message);
	}
}

HZ_FROZEN void control_link_hear(struct control_link *link)
{
	struct hz_link_message message;

	link_flush(link);
	while (!link_out_full(link) && link_has_record(link)) {
		memcpy(&message, link->in, RECORD);
		if (!link_is_read(&message))
			break;
		link->in_bytes = 0;
		link_answer(link, &message);
	}
	link_send_interrupts(link);
	link_flush(link);
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
	if (link->in_bytes < RECORD || link_out_full(link))
		return false;
	link->in_bytes = 0;
	memcpy(&message, link->in, RECORD);
	if (control_link_legal(&message)) {
		link_answer(link, &message);
		link_flush(link);
	} else {
		link->host->port.close(link->host->port.ctx);
		link_hang_up(link);
	}
	return true;
}

HZ_FROZEN void control_link_poll(struct control_link *link)
{
	do
		control_link_hear(link);
	while (control_link_act(link));
}
