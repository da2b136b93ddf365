/* Get Log Page: the part of a page that the host asks for, and pages that are made in an event of their own. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/get_log.h"

#include "hil/controller/hil_state.h"
#include "hil/controller/log_pages.h"
#include "lt/lock.h"

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR,
	OFFSET_IS_INDEX = 1 << 23, /* CDW14 */
};

struct window {
	struct sgl sgl;
	uint64_t offset;
	uint32_t bytes;
};

/* A piece of the page that lies at `at`; writes what of it the window shows. */
static void show_piece(const struct window *w, uint64_t at, const void *piece, uint64_t bytes)
{
	uint64_t from = at > w->offset ? at : w->offset;
	uint64_t to = at + bytes < w->offset + w->bytes ? at + bytes : w->offset + w->bytes;

	if (from < to)
		sgl_write(&w->sgl, (uint32_t)(from - w->offset), (const uint8_t *)piece + (from - at), (uint32_t)(to - from));
}

/* As many locks as there are: built in pieces, since the page may be larger than any buffer. Each lock may have to be waited for, so
 * the clock runs. */
static uint16_t lock_page(struct hil *hil, const struct window *w)
{
	struct hz_lock_entry *entry = (struct hz_lock_entry *)hil->scratch;
	const uint32_t size = sizeof(*entry), piece = HIL_SCRATCH_BYTES / size;
	struct hz_log_locks head = { .version = LOG_VERSION, .entries = lt_lock_report(entry, 0, 0), .entry_bytes = size };
	uint64_t end = sizeof(head) + (uint64_t)head.entries * size;

	if (w->offset > end)
		return BAD_FIELD;
	show_piece(w, 0, &head, sizeof(head));
	for (uint32_t i = 0; i < head.entries; i += piece) {
		uint32_t count = head.entries - i < piece ? head.entries - i : piece;
		uint64_t at = sizeof(head) + (uint64_t)i * size;

		if (at >= w->offset + w->bytes || at + (uint64_t)count * size <= w->offset)
			continue;
		lt_lock_report(entry, i, count);
		show_piece(w, at, entry, (uint64_t)count * size);
	}
	return NVME_SUCCESS;
}

/* A call of its own: a freeze begins and ends in one place (tests/vclock/test_freeze.py), and this may become a jump by a table. */
static __attribute__((noinline)) uint16_t send_built(struct hil *hil, const struct nvme_sqe *sqe, const struct window *w)
{
	uint32_t size = log_page_build(hil, sqe);

	if (w->offset > size)
		return BAD_FIELD;
	show_piece(w, 0, hil->scratch, size);
	if (!(sqe->cdw10 & LOG_RETAIN_EVENT))
		async_events_clear(&hil->events, sqe->cdw10 & 0xff, sqe->nsid);
	return NVME_SUCCESS;
}

static uint16_t send_page(struct hil *hil, const struct nvme_sqe *sqe, const struct window *w)
{
	uint16_t status;

	sgl_zero(&w->sgl, 0, w->bytes);
	if ((sqe->cdw10 & 0xff) == HZ_LOG_LOCKS)
		return lock_page(hil, w);
	clock_freeze();
	status = send_built(hil, sqe, w);
	clock_thaw();
	return status;
}

static uint16_t read_window(struct hil *hil, const struct nvme_sqe *sqe, uint8_t **pages, struct window *w)
{
	uint64_t dwords = ((uint64_t)(sqe->cdw11 & 0xffff) << 16 | sqe->cdw10 >> 16) + 1;

	w->offset = (uint64_t)sqe->cdw13 << 32 | sqe->cdw12;
	if (dwords * 4 > HZ_MAX_TRANSFER_SECTORS * HZ_SECTOR_BYTES || (w->offset & 3) || (sqe->cdw14 & OFFSET_IS_INDEX))
		return BAD_FIELD;
	w->bytes = (uint32_t)dwords * 4;
	return prp_parse(&hil->bus, sqe->prp1, sqe->prp2, w->bytes, pages, &w->sgl);
}

/* Largest offset into a page that is made later, in an event of its own; 0 of all others. Other harts publish their part of these
 * first, or locks must be taken, which cannot be done where an admin command is sometimes run: while device time stands. */
static uint64_t gathered_bytes(uint8_t id)
{
	switch (id) {
	case NVME_LOG_ENDURANCE_GROUP: return sizeof(struct nvme_endurance_log);
	case HZ_LOG_HARTS: return sizeof(struct hz_log_harts);
	case HZ_LOG_FLASH: return sizeof(struct hz_log_flash);
	case HZ_LOG_FTL: return sizeof(struct hz_log_ftl);
	case HZ_LOG_IN_PLACE: return sizeof(struct hz_log_in_place);
	case HZ_LOG_LOCKS: return UINT64_MAX;
	default: return 0;
	}
}

/* All parts are there: the page that was asked for. The command is not complete, so its buffer is still ours. */
static void send_gathered_page(void *ctx)
{
	struct hil *hil = ctx;
	const struct nvme_sqe *sqe = hart_pings_command(&hil->pings);
	uint8_t *pages[PRP_MAX_PAGES];
	struct window w = { 0 };
	uint16_t status;

	if (!life_is_ready(&hil->life))
		return;
	status = read_window(hil, sqe, pages, &w);
	if (!status)
		status = send_page(hil, sqe, &w);
	if (status)
		error_log_add(&hil->errors, 0, sqe->cid, status, 0, sqe->nsid);
	admin_answer(&hil->answers, sqe->cid, status, 0);
}

/* One page is about a namespace, another one about one or all of them, and the rest about the controller. */
static bool right_scope(struct hil *hil, uint8_t id, uint32_t nsid)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, nsid);

	if (nsid == 0 || nsid == NVME_NSID_ALL)
		return id != NVME_LOG_CHANGED_ZONES;
	return (id == NVME_LOG_CHANGED_ZONES || id == HZ_LOG_FTL) && slot && namespace_is_attached(slot);
}

/* Whoever reads one of these takes what it says. */
static bool lists_changes(uint8_t id) { return id == NVME_LOG_CHANGED_NAMESPACES || id == NVME_LOG_CHANGED_ZONES; }
enum { LIST_BYTES = sizeof(struct nvme_changed_zones_log) };
HZ_STATIC_ASSERT(sizeof(struct nvme_changed_namespaces_log) == LIST_BYTES, "both lists are as long");

uint16_t admin_get_log(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint8_t id = sqe->cdw10 & 0xff, *pages[PRP_MAX_PAGES];
	struct window w = { 0 };
	uint16_t status;

	if (!log_page_known(hil, id))
		return NVME_LOG_PAGE_INVALID | NVME_DNR;
	if (!right_scope(hil, id, sqe->nsid) || (id == NVME_LOG_ENDURANCE_GROUP && sqe->cdw11 >> 16 != HIL_ENDURANCE_GROUP))
		return BAD_FIELD;
	status = read_window(hil, sqe, pages, &w);
	if (status)
		return status;
	if (lists_changes(id) && w.offset > LIST_BYTES)
		return BAD_FIELD; /* before anything is taken */
	if (!gathered_bytes(id))
		return send_page(hil, sqe, &w);
	if (w.offset > gathered_bytes(id))
		return BAD_FIELD;
	result->later = true;
	hart_pings_start(&hil->pings, &(struct hart_round){ .sqe = *sqe, .pinged = send_gathered_page });
	return NVME_SUCCESS;
}
