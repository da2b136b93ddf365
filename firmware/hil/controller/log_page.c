/* Get Log Page (base spec 5.16) and the statistics behind the vendor pages of protocol/logs.h. */
#include <string.h>

#include "hil/controller/hil_state.h"
#include "lt/hart.h"
#include "lt/lock.h"
#include "tsu/tsu_report.h"
#include "tsu/tsu_rest.h"

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR,
	RETAIN_EVENT = 1 << 15,       /* CDW10 */
	OFFSET_IS_INDEX = 1 << 23,    /* CDW14 */
	LOG_VERSION = 1,
	SPARE_THRESHOLD = 10,         /* percent */
	MEDIA_SCT = 0x200, SCT_MASK = 0x700,
};

static const uint64_t HOUR_NS = 3600000000000ull;
struct window { struct sgl sgl; uint64_t offset; uint32_t bytes; };

void hil_log_error(struct hil *hil, uint16_t sqid, uint16_t cid, uint16_t status, uint64_t lba, uint32_t nsid)
{
	uint64_t number = ++hil->counters.errors;

	hil->counters.media_errors += (status & SCT_MASK) == MEDIA_SCT;
	hil->errors[(number - 1) % HIL_ERROR_ENTRIES] = (struct nvme_error_entry){
		.error_count = number, .sqid = sqid, .cid = cid, .status_field = (uint16_t)(status << 1),
		.parameter_location = 0xffff, .lba = lba, .nsid = nsid,
	};
}

/* No command's error: queue and command id are all ones. */
void hil_log_damage(struct hil *hil)
{
	struct ftl_damage damage;
	uint64_t sectors;

	hil->device.damage_found(hil->device.ctx, &damage);
	sectors = damage.lost_sectors + damage.unknown_sectors;
	if (!sectors)
		return;
	hil_log_error(hil, UINT16_MAX, UINT16_MAX, NVME_UNRECOVERED_READ, damage.first_lba, 1);
	hil->counters.media_errors = sectors;
	hil->warning |= NVME_WARNING_RELIABILITY;
}

/* What is retired never comes back, so the warning stands from then on. */
void hil_check_spare(struct hil *hil)
{
	struct ftl_health health;

	hil->device.health(hil->device.ctx, &health);
	if (health.spare_percent >= SPARE_THRESHOLD || hil->warning & NVME_WARNING_SPARE)
		return;
	hil->warning |= NVME_WARNING_SPARE;
	async_event_warn(hil, hil->feature[NVME_FEAT_ASYNC_EVENT] & NVME_WARNING_SPARE);
}

/* Newest first (base spec 5.16.1.2). */
static uint32_t error_page(struct hil *hil, void *page)
{
	struct nvme_error_entry *entry = page;
	uint64_t newest = hil->counters.errors;

	for (uint64_t i = 0; i < HIL_ERROR_ENTRIES && i < newest; i++)
		entry[i] = hil->errors[(newest - 1 - i) % HIL_ERROR_ENTRIES];
	return HIL_ERROR_ENTRIES * sizeof(*entry);
}

/* Thousands of 512-byte units, rounded up. */
static uint64_t data_units(uint64_t sectors) { return (sectors * (HZ_SECTOR_BYTES / 512) + 999) / 1000; }

static uint32_t smart_page(struct hil *hil, void *page)
{
	struct nvme_smart_log *log = page;
	const struct log_counters *c = &hil->counters;
	struct power_history history;
	struct ftl_health health;

	hil->device.health(hil->device.ctx, &health);
	hil->device.power_history(hil->device.ctx, &history);
	log->power_cycles[0] = history.power_cycles;
	log->unsafe_shutdowns[0] = history.unsafe_shutdowns;
	log->power_on_hours[0] = history.powered_ns / HOUR_NS;
	log->critical_warning = (uint8_t)hil->warning;
	log->available_spare = health.spare_percent; /* the temperature stays 0: there is none in this model */
	log->spare_threshold = SPARE_THRESHOLD;
	log->percentage_used = health.used_percent;
	log->data_units_read[0] = data_units(c->read_sectors);
	log->data_units_written[0] = data_units(c->written_sectors);
	log->host_reads[0] = c->reads;
	log->host_writes[0] = c->writes;
	log->media_errors[0] = c->media_errors;
	log->error_entries[0] = c->errors;
	return sizeof(*log);
}

static uint32_t firmware_page(struct hil *hil, void *page)
{
	struct nvme_firmware_log *log = page;

	(void)hil;
	log->afi = 1;
	memset(log->frs[0], ' ', sizeof(log->frs[0]));
	memcpy(log->frs[0], HIL_FIRMWARE_REVISION, sizeof(HIL_FIRMWARE_REVISION) - 1);
	return sizeof(*log);
}

enum {
	READS = NVME_EFFECT_SUPPORTED | NVME_SCOPE_NAMESPACE,
	CHANGES = READS | NVME_EFFECT_LBA_CHANGE,
	MANAGES = NVME_EFFECT_SUPPORTED | NVME_SCOPE_CONTROLLER,
};

static void zns_effects(struct nvme_effects_log *log)
{
	log->iocs[NVME_IO_ZONE_MGMT_SEND] = CHANGES;
	log->iocs[NVME_IO_ZONE_MGMT_RECV] = READS;
	log->iocs[NVME_IO_ZONE_APPEND] = CHANGES;
}

static uint32_t effects_page(void *page, bool zoned)
{
	static const uint8_t admin[] = {
		NVME_ADMIN_DELETE_SQ, NVME_ADMIN_CREATE_SQ, NVME_ADMIN_GET_LOG_PAGE, NVME_ADMIN_DELETE_CQ, NVME_ADMIN_CREATE_CQ,
		NVME_ADMIN_IDENTIFY, NVME_ADMIN_ABORT, NVME_ADMIN_SET_FEATURES, NVME_ADMIN_GET_FEATURES, NVME_ADMIN_ASYNC_EVENT,
		NVME_ADMIN_DBBUF, NVME_ADMIN_HZ_RESET_STATS,
	};
	struct nvme_effects_log *log = page;

	for (unsigned i = 0; i < sizeof(admin); i++)
		log->acs[admin[i]] = MANAGES;
	log->iocs[NVME_IO_FLUSH] = READS;
	log->iocs[NVME_IO_READ] = READS;
	log->iocs[NVME_IO_WRITE] = CHANGES;
	log->iocs[NVME_IO_WRITE_ZEROES] = CHANGES;
	if (zoned)
		zns_effects(log);
	return sizeof(*log);
}

static bool known_page(const struct hil *hil, unsigned id)
{
	return (id == NVME_LOG_CHANGED_ZONES && hil->limits.zoned) || id <= NVME_LOG_FIRMWARE || id == NVME_LOG_EFFECTS || id == NVME_LOG_FEATURES || id == NVME_LOG_MI_COMMANDS ||
	       (id >= HZ_LOG_HARTS && id <= HZ_LOG_FTL);
}

static uint32_t supported_pages(const struct hil *hil, void *page)
{
	struct nvme_supported_pages *log = page;

	for (unsigned id = 0; id < 256; id++)
		log->page[id] = known_page(hil, id);
	return sizeof(*log);
}

static uint32_t features_page(void *page)
{
	struct nvme_features_log *log = page;

	for (unsigned id = 0; id < 256; id++)
		log->feature[id] = hil_feature_known(id) ? MANAGES : 0;
	return sizeof(*log);
}

/* ZNS 1.1, Changed Zone List. More than there is room for: the host is to ask for all zones, and none is named. */
static uint32_t changed_zones_page(struct hil *hil, void *page, bool take)
{
	struct nvme_changed_zones_log *log = page;
	uint32_t found = hil->device.changed_zones(hil->device.ctx, log->start, NVME_CHANGED_ZONES_MOST, take);

	if (found > NVME_CHANGED_ZONES_MOST)
		memset(log->start, 0, sizeof(log->start));
	log->zones = (uint16_t)(found > NVME_CHANGED_ZONES_MOST ? NVME_CHANGED_ZONES_MORE : found);
	return sizeof(*log);
}

static uint32_t harts_page(struct hil *hil, void *page)
{
	struct hz_log_harts *log = page;

	(void)hil;
	log->version = LOG_VERSION;
	log->harts = lt_harts();
	log->now_ns = clock_now_ns();
	for (unsigned i = 0; i < log->harts; i++)
		lt_hart_times(i, &log->hart[i]);
	return sizeof(*log);
}

/* Both records are 64-bit counters from `first` to their end. */
static void subtract(void *from, const void *base, size_t first, size_t bytes)
{
	for (size_t i = first / 8; i < bytes / 8; i++)
		((uint64_t *)from)[i] -= ((const uint64_t *)base)[i];
}

static uint32_t flash_page(struct hil *hil, void *page)
{
	struct hz_log_flash *log = page;
	uint64_t dies;

	hil->device.flash_published(hil->device.ctx, log);
	dies = log->dies;
	subtract(log, &hil->base->flash, offsetof(struct hz_log_flash, reads), sizeof(*log));
	log->dies = dies;
	return sizeof(*log);
}

static uint32_t ftl_page(struct hil *hil, void *page)
{
	struct hz_log_ftl *log = page;

	hil->device.ftl_published(hil->device.ctx, log);
	subtract(log, &hil->base->ftl, offsetof(struct hz_log_ftl, host_read_sectors), sizeof(*log));
	return sizeof(*log);
}

/* Fills hil->scratch with a known page; returns its size. */
static uint32_t build(struct hil *hil, const struct nvme_sqe *sqe)
{
	memset(hil->scratch, 0, HIL_SCRATCH_BYTES);
	switch (sqe->cdw10 & 0xff) {
	case NVME_LOG_SUPPORTED_PAGES: return supported_pages(hil, hil->scratch);
	case NVME_LOG_FEATURES: return features_page(hil->scratch);
	case NVME_LOG_MI_COMMANDS: return sizeof(struct nvme_mi_commands_log); /* none */
	case NVME_LOG_ERROR: return error_page(hil, hil->scratch);
	case NVME_LOG_SMART: return smart_page(hil, hil->scratch);
	case NVME_LOG_FIRMWARE: return firmware_page(hil, hil->scratch);
	case NVME_LOG_EFFECTS: return effects_page(hil->scratch, hil->limits.zoned && sqe->cdw14 >> 24 == NVME_CSI_ZNS);
	case NVME_LOG_CHANGED_ZONES: return changed_zones_page(hil, hil->scratch, !(sqe->cdw10 & RETAIN_EVENT));
	case HZ_LOG_HARTS: return harts_page(hil, hil->scratch);
	case HZ_LOG_FLASH: return flash_page(hil, hil->scratch);
	default: return ftl_page(hil, hil->scratch);
	}
}
HZ_STATIC_ASSERT(sizeof(struct hz_log_harts) <= HIL_SCRATCH_BYTES && sizeof(struct hz_log_flash) <= HIL_SCRATCH_BYTES,
		 "log pages are built in the scratch buffer");

/* A piece of the page that lies at `at`; writes what of it the window shows. */
static void show(const struct window *w, uint64_t at, const void *piece, uint64_t bytes)
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
	show(w, 0, &head, sizeof(head));
	for (uint32_t i = 0; i < head.entries; i += piece) {
		uint32_t count = head.entries - i < piece ? head.entries - i : piece;
		uint64_t at = sizeof(head) + (uint64_t)i * size;

		if (at >= w->offset + w->bytes || at + (uint64_t)count * size <= w->offset)
			continue;
		lt_lock_report(entry, i, count);
		show(w, at, entry, (uint64_t)count * size);
	}
	return NVME_SUCCESS;
}

/* A call of its own: a freeze begins and ends in one place (tests/vclock/test_freeze.py), and this may become a jump by a table. */
static __attribute__((noinline)) uint16_t send_built(struct hil *hil, const struct nvme_sqe *sqe, const struct window *w)
{
	uint32_t size = build(hil, sqe);

	if (w->offset > size)
		return BAD_FIELD;
	show(w, 0, hil->scratch, size);
	if (!(sqe->cdw10 & RETAIN_EVENT))
		async_event_clear(hil, sqe->cdw10 & 0xff);
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
	return prp_parse(&hil->limits.bus, sqe->prp1, sqe->prp2, w->bytes, pages, &w->sgl);
}

/* Largest offset into a page that is made later, in an event of its own; 0 of all others. Other harts publish their part of these
 * first, or locks must be taken, which cannot be done where an admin command is sometimes run: while device time stands. */
static uint64_t gathered_bytes(uint8_t id)
{
	switch (id) {
	case HZ_LOG_HARTS: return sizeof(struct hz_log_harts);
	case HZ_LOG_FLASH: return sizeof(struct hz_log_flash);
	case HZ_LOG_FTL: return sizeof(struct hz_log_ftl);
	case HZ_LOG_LOCKS: return UINT64_MAX;
	default: return 0;
	}
}

/* All parts are there: the page that was asked for. The command is not complete, so its buffer is still ours. */
static void send_gathered_page(struct hil *hil)
{
	uint8_t *pages[PRP_MAX_PAGES];
	struct window w = { 0 };
	uint16_t status;

	if (hil->life != LIFE_READY)
		return;
	status = read_window(hil, &hil->ping_sqe, pages, &w);
	if (!status)
		status = send_page(hil, &hil->ping_sqe, &w);
	if (status)
		hil_log_error(hil, 0, hil->ping_sqe.cid, status, 0, hil->ping_sqe.nsid);
	hil_admin_answer(hil, hil->ping_sqe.cid, status, 0);
}

/* Every page but one is about the controller. */
static bool right_scope(uint8_t id, uint32_t nsid)
{
	return id == NVME_LOG_CHANGED_ZONES ? nsid == 1 : nsid == 0 || nsid == NVME_NSID_ALL;
}

uint16_t hil_admin_get_log(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint8_t id = sqe->cdw10 & 0xff, *pages[PRP_MAX_PAGES];
	struct window w = { 0 };
	uint16_t status;

	if (!known_page(hil, id))
		return NVME_LOG_PAGE_INVALID | NVME_DNR;
	if (!right_scope(id, sqe->nsid))
		return BAD_FIELD;
	status = read_window(hil, sqe, pages, &w);
	if (status)
		return status;
	if (id == NVME_LOG_CHANGED_ZONES && w.offset > sizeof(struct nvme_changed_zones_log))
		return BAD_FIELD; /* before anything is taken */
	if (gathered_bytes(id))
		return w.offset > gathered_bytes(id) ? BAD_FIELD : hil_ping_harts(hil, sqe, result, send_gathered_page);
	return send_page(hil, sqe, &w);
}
