/* Log pages: their content, and Get Log Page. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "hil/controller/admin.h"
#include "hil/controller/controller.h"
#include "hil/controller/health.h"
#include "lt/lock.h"

/* Log pages. */

static const uint64_t HOUR_NS = 3600000000000ull;

static uint32_t error_page(struct hil *hil, void *page)
{
	error_log_copy(&hil->errors, page);
	return HIL_ERROR_ENTRIES * sizeof(struct nvme_error_entry);
}

/* Thousands of 512-byte units, rounded up. */
static uint64_t data_units(uint64_t sectors) { return (sectors * (HZ_SECTOR_BYTES / 512) + 999) / 1000; }

static struct io_counts io_counts_of(const struct hil *hil)
{
	struct io_counts sum = hil->group.completion.counts;

	relays_add_counts(&hil->relays, &sum);
	return sum;
}

static uint32_t smart_page(struct hil *hil, void *page)
{
	struct nvme_smart_log *log = page;
	struct io_counts io = io_counts_of(hil);
	struct power_history history;
	struct ftl_health health;

	hil->device.health(hil->device.ctx, &health);
	hil->device.power_history(hil->device.ctx, &history);
	log->power_cycles[0] = history.power_cycles;
	log->unsafe_shutdowns[0] = history.unsafe_shutdowns;
	log->power_on_hours[0] = history.powered_ns / HOUR_NS;
	log->critical_warning = (uint8_t)hil->health.warning;
	log->available_spare = health.spare_percent; /* the temperature stays 0: there is none in this model */
	log->spare_threshold = HEALTH_SPARE_THRESHOLD;
	log->percentage_used = health.used_percent;
	log->data_units_read[0] = data_units(io.read_sectors);
	log->data_units_written[0] = data_units(io.written_sectors);
	log->host_reads[0] = io.reads;
	log->host_writes[0] = io.writes;
	log->media_errors[0] = hil->errors.media_errors;
	log->error_entries[0] = hil->errors.errors;
	relays_add_missed(&hil->relays, &log->error_entries[0], &log->media_errors[0]);
	return sizeof(*log);
}

/* Bytes in thousands of millions, rounded up. */
static uint64_t billions(uint64_t sectors) { return (sectors * HZ_SECTOR_BYTES + 999999999) / 1000000000; }

/* Warnings are SMART's; data are those of all namespaces since boot. */
static uint32_t endurance_page(struct hil *hil, void *page)
{
	struct nvme_endurance_log *log = page;
	struct io_counts io = io_counts_of(hil);
	struct hz_log_flash flash;
	struct ftl_health health;
	uint64_t programmed = 0;

	hil->device.health(hil->device.ctx, &health);
	hil->device.flash_published(hil->device.ctx, &flash, NULL);
	for (unsigned cause = 0; cause < HZ_CAUSES; cause++)
		programmed += flash.program_sectors[cause];
	log->critical_warning = (uint8_t)(hil->health.warning & (NVME_WARNING_SPARE | NVME_WARNING_RELIABILITY));
	log->available_spare = health.spare_percent;
	log->spare_threshold = HEALTH_SPARE_THRESHOLD;
	log->percentage_used = health.used_percent;
	log->read[0] = billions(io.read_sectors);
	log->written[0] = billions(io.written_sectors);
	log->media_written[0] = billions(programmed);
	log->host_reads[0] = io.reads;
	log->host_writes[0] = io.writes;
	log->media_errors[0] = hil->errors.media_errors;
	log->error_entries[0] = hil->errors.errors;
	relays_add_missed(&hil->relays, &log->error_entries[0], &log->media_errors[0]);
	log->capacity[0] = namespaces_sectors(&hil->namespaces, 0, false) << HZ_SECTOR_SHIFT;
	log->unallocated[0] = namespaces_sectors(&hil->namespaces, 0, true) << HZ_SECTOR_SHIFT;
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

static void placement_effects(struct nvme_effects_log *log)
{
	log->acs[NVME_ADMIN_DIRECTIVE_SEND] = MANAGES;
	log->acs[NVME_ADMIN_DIRECTIVE_RECEIVE] = MANAGES;
	log->iocs[NVME_IO_MGMT_RECEIVE] = READS;
	log->iocs[NVME_IO_MGMT_SEND] = READS;
}

static uint32_t effects_page(const struct hz_device_config *cfg, void *page, bool zoned)
{
	static const uint8_t admin[] = {
		NVME_ADMIN_DELETE_SQ,    NVME_ADMIN_CREATE_SQ,   NVME_ADMIN_GET_LOG_PAGE, NVME_ADMIN_DELETE_CQ,
		NVME_ADMIN_CREATE_CQ,    NVME_ADMIN_IDENTIFY,    NVME_ADMIN_ABORT,        NVME_ADMIN_SET_FEATURES,
		NVME_ADMIN_GET_FEATURES, NVME_ADMIN_ASYNC_EVENT, NVME_ADMIN_DBBUF,        NVME_ADMIN_HZ_RESET_STATS,
	};
	struct nvme_effects_log *log = page;

	for (unsigned i = 0; i < sizeof(admin); i++)
		log->acs[admin[i]] = MANAGES;
	log->acs[NVME_ADMIN_NAMESPACE_MANAGEMENT] = MANAGES | NVME_EFFECT_LBA_CHANGE | NVME_EFFECT_INVENTORY_CHANGE;
	log->acs[NVME_ADMIN_NAMESPACE_ATTACHMENT] = MANAGES | NVME_EFFECT_INVENTORY_CHANGE;
	log->acs[NVME_ADMIN_DEVICE_SELF_TEST] = MANAGES;
	log->acs[NVME_ADMIN_FORMAT_NVM] = MANAGES | NVME_EFFECT_LBA_CHANGE | NVME_EFFECT_ALONE;
	log->acs[NVME_ADMIN_SANITIZE] = MANAGES | NVME_EFFECT_LBA_CHANGE | NVME_EFFECT_ALL_ALONE;
	log->iocs[NVME_IO_FLUSH] = READS;
	log->iocs[NVME_IO_READ] = READS;
	log->iocs[NVME_IO_COMPARE] = READS;
	log->iocs[NVME_IO_VERIFY] = READS;
	log->iocs[NVME_IO_WRITE] = CHANGES;
	log->iocs[NVME_IO_WRITE_ZEROES] = CHANGES;
	log->iocs[NVME_IO_WRITE_UNCORRECTABLE] = CHANGES;
	log->iocs[NVME_IO_DATASET_MANAGEMENT] = CHANGES;
	log->iocs[NVME_IO_COPY] = cfg->copies ? CHANGES : 0;
	if (cfg->fdp_handles)
		placement_effects(log);
	if (zoned)
		zns_effects(log);
	return sizeof(*log);
}

bool log_page_known(const struct hil *hil, unsigned id)
{
	switch (id) {
	case NVME_LOG_CHANGED_NAMESPACES:
	case NVME_LOG_EFFECTS:
	case NVME_LOG_SELF_TEST:
	case NVME_LOG_TELEMETRY_HOST:
	case NVME_LOG_TELEMETRY_CONTROLLER:
	case NVME_LOG_ENDURANCE_GROUP:
	case NVME_LOG_FEATURES:
	case NVME_LOG_SANITIZE:
	case NVME_LOG_MI_COMMANDS: return true;
	case NVME_LOG_CHANGED_ZONES: return hil->zoned;
	case NVME_LOG_FDP_CONFIGURATIONS:
	case NVME_LOG_FDP_HANDLES:
	case NVME_LOG_FDP_STATISTICS:
	case NVME_LOG_FDP_EVENTS: return hil->cfg->fdp_handles;
	default: return id <= NVME_LOG_FIRMWARE || (id >= HZ_LOG_HARTS && id <= HZ_LOG_ENERGY);
	}
}

static uint32_t supported_pages(const struct hil *hil, void *page)
{
	struct nvme_supported_pages *log = page;

	for (unsigned id = 0; id < 256; id++)
		log->page[id] = log_page_known(hil, id);
	return sizeof(*log);
}

static uint32_t features_page(const struct hz_device_config *cfg, void *page)
{
	struct nvme_features_log *log = page;

	for (unsigned id = 0; id < 256; id++)
		log->feature[id] = feature_find(id, cfg) ? MANAGES : 0;
	return sizeof(*log);
}

static uint32_t changed_namespaces_page(struct hil *hil, void *page, bool take)
{
	struct nvme_changed_namespaces_log *log = page;

	namespaces_list_changed(&hil->namespaces, take, log->nsid);
	return sizeof(*log);
}
HZ_STATIC_ASSERT(HZ_MAX_NAMESPACES * sizeof(uint32_t) <= sizeof(struct nvme_changed_namespaces_log), "the page has room for all");

/* ZNS 1.1, Changed Zone List. More than there is room for: the host is to ask for all zones, and none is named. */
static uint32_t changed_zones_page(struct hil *hil, void *page, uint32_t number, bool take)
{
	struct nvme_changed_zones_log *log = page;
	uint32_t found = hil->device.changed_zones(hil->device.ctx, number, log->start, NVME_CHANGED_ZONES_MOST, take);

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

static uint32_t flash_page(struct hil *hil, void *page)
{
	statistics_flash(&hil->statistics, page);
	return sizeof(struct hz_log_flash);
}

static uint32_t energy_page(struct hil *hil, void *page)
{
	statistics_energy(&hil->statistics, page);
	return sizeof(struct hz_log_energy);
}

static uint32_t ftl_page(struct hil *hil, void *page, uint32_t nsid)
{
	statistics_ftl(&hil->statistics, nsid, page);
	return sizeof(struct hz_log_ftl);
}

static uint32_t in_place_page(struct hil *hil, void *page)
{
	struct hz_log_in_place *log = page;
	struct hz_log_ftl ftl;

	statistics_ftl(&hil->statistics, NVME_NSID_ALL, &ftl);
	log->version = LOG_VERSION;
	log->budget_sectors = hil->cfg->in_place_sectors;
	log->used_sectors = hil->device.in_place(hil->device.ctx);
	log->written_sectors = ftl.in_place_sectors;
	log->refused_writes = ftl.in_place_refusals;
	log->folds = ftl.update_folds;
	log->folded_sectors = ftl.folded_updates;
	return sizeof(*log);
}

uint32_t log_page_build(struct hil *hil, const struct nvme_sqe *sqe)
{
	memset(hil->scratch, 0, HIL_SCRATCH_BYTES);
	switch (sqe->cdw10 & 0xff) {
	case NVME_LOG_SUPPORTED_PAGES: return supported_pages(hil, hil->scratch);
	case NVME_LOG_FEATURES: return features_page(hil->cfg, hil->scratch);
	case NVME_LOG_MI_COMMANDS: return sizeof(struct nvme_mi_commands_log); /* none */
	case NVME_LOG_ERROR: return error_page(hil, hil->scratch);
	case NVME_LOG_SMART: return smart_page(hil, hil->scratch);
	case NVME_LOG_SELF_TEST: return self_test_page(hil, (struct nvme_self_test_log *)hil->scratch);
	case NVME_LOG_ENDURANCE_GROUP: return endurance_page(hil, hil->scratch);
	case NVME_LOG_SANITIZE: return sanitize_page(hil, (struct nvme_sanitize_log *)hil->scratch);
	case NVME_LOG_FIRMWARE: return firmware_page(hil, hil->scratch);
	case NVME_LOG_CHANGED_NAMESPACES: return changed_namespaces_page(hil, hil->scratch, !(sqe->cdw10 & LOG_RETAIN_EVENT));
	case NVME_LOG_EFFECTS: return effects_page(hil->cfg, hil->scratch, hil->zoned && sqe->cdw14 >> 24 == NVME_CSI_ZNS);
	case NVME_LOG_CHANGED_ZONES: return changed_zones_page(hil, hil->scratch, sqe->nsid - 1, !(sqe->cdw10 & LOG_RETAIN_EVENT));
	case NVME_LOG_FDP_CONFIGURATIONS: return placement_configurations(hil, hil->scratch);
	case NVME_LOG_FDP_HANDLES: return placement_handles(hil, (struct nvme_handles_log *)hil->scratch);
	case NVME_LOG_FDP_STATISTICS:
		return placement_statistics(hil, io_counts_of(hil).written_sectors, (struct nvme_fdp_statistics *)hil->scratch);
	case HZ_LOG_HARTS: return harts_page(hil, hil->scratch);
	case HZ_LOG_FLASH: return flash_page(hil, hil->scratch);
	case HZ_LOG_IN_PLACE: return in_place_page(hil, hil->scratch);
	case HZ_LOG_ENERGY: return energy_page(hil, hil->scratch);
	default: return ftl_page(hil, hil->scratch, sqe->nsid);
	}
}
HZ_STATIC_ASSERT(sizeof(struct hz_log_harts) <= HIL_SCRATCH_BYTES && sizeof(struct hz_log_flash) <= HIL_SCRATCH_BYTES,
		 "log pages are built in the scratch buffer");

/* Get Log Page: the requested part of a page, and pages built in an event of their own. */

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR,
	OFFSET_IS_INDEX = 1 << 23, /* CDW14 */
};

struct window {
	struct sgl sgl;
	uint64_t offset;
	uint32_t bytes;
};

/* A piece of the page at `at`; copies its part within the window. */
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

/* The FTL takes a lock for it. */
static uint16_t event_page(struct hil *hil, const struct nvme_sqe *sqe, const struct window *w)
{
	uint32_t size = placement_events(hil, sqe->cdw10 & NVME_FDP_HOST_EVENTS, (struct nvme_fdp_events *)hil->scratch);

	if (w->offset > size)
		return BAD_FIELD;
	show_piece(w, 0, hil->scratch, size);
	return NVME_SUCCESS;
}

static uint16_t send_telemetry(struct hil *hil, unsigned id, const struct window *w)
{
	struct nvme_telemetry_header header;
	uint32_t bytes = telemetry_header(hil, id, &header) * NVME_TELEMETRY_BLOCK;

	if (w->offset > sizeof(header) + bytes)
		return BAD_FIELD;
	show_piece(w, 0, &header, sizeof(header));
	show_piece(w, sizeof(header), hil->telemetry.blocks, bytes);
	return NVME_SUCCESS;
}

/* A call of its own: a freeze begins and ends in one place (tests/vclock/test_freeze.py), and this may become a jump by a table. */
static __attribute__((noinline)) uint16_t send_built(struct hil *hil, const struct nvme_sqe *sqe, const struct window *w)
{
	uint32_t size;

	if (telemetry_creates(sqe))
		telemetry_create(hil);
	if (telemetry_is_page(sqe->cdw10 & 0xff))
		return send_telemetry(hil, sqe->cdw10 & 0xff, w);
	size = log_page_build(hil, sqe);
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
	if ((sqe->cdw10 & 0xff) == NVME_LOG_FDP_EVENTS)
		return event_page(hil, sqe, w);
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
	if (telemetry_is_page(sqe->cdw10 & 0xff) && (w->bytes | w->offset) % NVME_TELEMETRY_BLOCK)
		return BAD_FIELD;
	return prp_parse(&hil->bus, sqe->prp1, sqe->prp2, w->bytes, pages, &w->sgl);
}

/* Largest offset into a page that is built later, in an event of its own; 0 for all others. For these, other harts must first publish
 * their part, or locks must be taken. Both are impossible while device time stands, and an admin command is sometimes run then. */
static uint64_t gathered_bytes(uint8_t id)
{
	switch (id) {
	case NVME_LOG_ENDURANCE_GROUP: return sizeof(struct nvme_endurance_log);
	case NVME_LOG_FDP_STATISTICS: return sizeof(struct nvme_fdp_statistics);
	case NVME_LOG_FDP_EVENTS: return sizeof(struct nvme_fdp_events);
	case HZ_LOG_HARTS: return sizeof(struct hz_log_harts);
	case HZ_LOG_FLASH: return sizeof(struct hz_log_flash);
	case HZ_LOG_FTL: return sizeof(struct hz_log_ftl);
	case HZ_LOG_IN_PLACE: return sizeof(struct hz_log_in_place);
	case HZ_LOG_ENERGY: return sizeof(struct hz_log_energy);
	case HZ_LOG_LOCKS: return UINT64_MAX;
	default: return 0;
	}
}

/* All parts have arrived: send the page. The command is not complete, so its buffer is still ours. */
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

/* CDW11 31:16 has the endurance group. */
static bool is_of_group(uint8_t id)
{
	return id == NVME_LOG_ENDURANCE_GROUP || (id >= NVME_LOG_FDP_CONFIGURATIONS && id <= NVME_LOG_FDP_EVENTS);
}

/* Reading one of these takes its content. */
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
	if (!right_scope(hil, id, sqe->nsid) || (is_of_group(id) && sqe->cdw11 >> 16 != HIL_ENDURANCE_GROUP))
		return BAD_FIELD;
	status = read_window(hil, sqe, pages, &w);
	if (status)
		return status;
	if (lists_changes(id) && w.offset > LIST_BYTES)
		return BAD_FIELD; /* before anything is taken */
	if (!gathered_bytes(id) && !telemetry_creates(sqe))
		return send_page(hil, sqe, &w);
	if (gathered_bytes(id) && w.offset > gathered_bytes(id))
		return BAD_FIELD;
	result->later = true;
	hart_pings_start(&hil->pings, &(struct hart_round){ .sqe = *sqe, .pinged = send_gathered_page });
	return NVME_SUCCESS;
}
