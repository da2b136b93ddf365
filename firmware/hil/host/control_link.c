/* Register link. Bytes from the host are untrusted: a record that breaks link.h ends the connection and nothing else. */
#include <string.h>

#include "hil/controller/hil_state.h"
#include "lt/hart.h"

enum { TURNS_PER_LOOK = 32 };
enum { RECORD = sizeof(struct hz_link_message), MAP_END = NVME_REG_CRTO + 4, DOORBELLS_END = NVME_REG_DOORBELLS + QUEUES * 8 };

bool control_link_legal(const struct hz_link_message *m)
{
	uint64_t end = (uint64_t)m->offset + m->size;

	if (m->type != HZ_LINK_READ && m->type != HZ_LINK_WRITE)
		return false;
	if ((m->size != 4 && m->size != 8) || (m->offset & 3))
		return false;
	return end <= MAP_END || (m->offset >= NVME_REG_DOORBELLS && end <= DOORBELLS_END);
}

static bool out_full(const struct control_link *link)
{
	return link->out_bytes + RECORD > sizeof(link->out);
}

static void put(struct control_link *link, const struct hz_link_message *message)
{
	memcpy(link->out + link->out_bytes, message, RECORD);
	link->out_bytes += RECORD;
}

static void answer(struct hil *hil, const struct hz_link_message *ask)
{
	struct hz_link_message reply = *ask;
	bool ok;

	if (ask->type == HZ_LINK_READ) {
		ok = hil_register_read(hil, ask->offset, ask->size, &reply.value);
		reply.type = ok ? HZ_LINK_VALUE : HZ_LINK_ERROR;
	} else {
		ok = hil_register_write(hil, ask->offset, ask->size, ask->value);
		reply.type = ok ? HZ_LINK_DONE : HZ_LINK_ERROR;
	}
	put(&hil->link, &reply);
}

/* The host is gone: nobody will use its queues, so the controller resets. After a shutdown the device's work is done. */
static void hang_up(struct hil *hil)
{
	hil->link.in_bytes = hil->link.out_bytes = 0;
	hil->irq_pending[0] = hil->irq_pending[1] = 0;
	hil->hung_up = true;
	if (hil->shutdown == SHUTDOWN_COMPLETE) {
		lt_harts_stop();
		return;
	}
	if (hil->reg.cc & NVME_CC_EN) {
		hil->reg.cc &= ~(uint32_t)NVME_CC_EN;
		hil_disable(hil);
	}
}

static void flush_out(struct hil *hil)
{
	struct control_link *link = &hil->link;
	int sent;

	if (link->out_bytes == 0)
		return;
	sent = hil->port.send(hil->port.ctx, link->out, link->out_bytes);
	if (sent <= 0)
		return;
	link->out_bytes -= (uint32_t)sent;
	memmove(link->out, link->out + sent, link->out_bytes);
}

/* A whole record is in link->in. */
static bool record_is_here(struct hil *hil)
{
	struct control_link *link = &hil->link;

	while (!link->lost && link->in_bytes < RECORD) {
		int got = hil->port.recv(hil->port.ctx, link->in + link->in_bytes, RECORD - link->in_bytes);

		if (got == 0)
			return false;
		link->lost = got < 0;
		if (link->lost)
			return false;
		hil->hung_up = false;
		link->in_bytes += (uint32_t)got;
	}
	return link->in_bytes == RECORD;
}

static bool is_read(const struct hz_link_message *message)
{
	return message->type == HZ_LINK_READ && control_link_legal(message);
}

static void send_irqs(struct hil *hil)
{
	for (unsigned vector = 0; vector < VECTORS && (hil->irq_pending[0] | hil->irq_pending[1]); vector++) {
		struct hz_link_message irq = { .type = HZ_LINK_IRQ, .offset = vector };
		uint64_t bit = 1ull << (vector & 63);

		if (!(hil->irq_pending[vector >> 6] & bit) || (vector < 32 && (hil->reg.masked >> vector & 1)))
			continue;
		if (out_full(&hil->link))
			return;
		hil->irq_pending[vector >> 6] &= ~bit;
		put(&hil->link, &irq);
	}
}

void control_link_hear(struct hil *hil)
{
	struct control_link *link = &hil->link;
	bool waited = control_link_waits(link);
	struct hz_link_message message;

	flush_out(hil);
	while (!out_full(link) && record_is_here(hil)) {
		memcpy(&message, link->in, RECORD);
		if (!is_read(&message))
			break;
		link->in_bytes = 0;
		answer(hil, &message);
	}
	if (!waited)
		hil->seen_since_heard = 0;
	send_irqs(hil);
	flush_out(hil);
}

bool control_link_act(struct hil *hil)
{
	struct control_link *link = &hil->link;
	struct hz_link_message message;

	link->overdue = false;
	if (link->lost) {
		link->lost = false;
		hang_up(hil);
		return true;
	}
	if (link->in_bytes < RECORD || out_full(link))
		return false;
	link->in_bytes = 0;
	memcpy(&message, link->in, RECORD);
	if (control_link_legal(&message)) {
		answer(hil, &message);
		flush_out(hil);
	} else {
		hil->port.close(hil->port.ctx);
		hang_up(hil);
	}
	return true;
}

void control_link_poll(struct hil *hil)
{
	do
		control_link_hear(hil);
	while (control_link_act(hil));
}

void control_link_turn(struct hil *hil, bool idle)
{
	bool due = ++hil->heartbeat % TURNS_PER_LOOK == 0;

	host_store32(&hil->header->heartbeat, hil->heartbeat);
	if (!hil->virtual_clock && (due || idle))
		control_link_poll(hil);
	else if (due || hil->link.overdue)
		control_link_hear(hil);
	if (hil->link.overdue)
		control_link_act(hil);
}
