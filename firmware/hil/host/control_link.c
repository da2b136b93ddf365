/* Register link: records come and go. Bytes from the host are untrusted: a record in violation of register_link.h ends the connection and nothing else. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/host/control_link.h"

#include <string.h>

enum { RECORD = sizeof(struct hz_link_message) };

void control_link_init(struct control_link *link, struct host *host, struct interrupts *irq, const struct link_client *client)
{
	*link = (struct control_link){ .host = host, .irq = irq, .client = *client };
}

HZ_FROZEN void control_link_flush(struct control_link *link)
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

static void link_send_interrupts(struct control_link *link)
{
	for (unsigned vector = 0; vector < VECTORS && interrupts_any(link->irq); vector++) {
		struct hz_link_message message = { .type = HZ_LINK_IRQ, .offset = vector };

		if (!interrupts_due(link->irq, vector))
			continue;
		if (control_link_full(link))
			return;
		interrupts_sent(link->irq, vector);
		control_link_put(link, &message);
	}
}

HZ_FROZEN void control_link_hear(struct control_link *link)
{
	control_link_flush(link);
	while (!control_link_full(link) && link_has_record(link) && control_link_answer_read(link))
		;
	link_send_interrupts(link);
	control_link_flush(link);
}

HZ_FROZEN void control_link_poll(struct control_link *link)
{
	do
		control_link_hear(link);
	while (control_link_act(link));
}
