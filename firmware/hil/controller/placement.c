/* Flexible data placement: log pages, events, the directive's commands. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "geometry.h"
#include "hil/controller/controller.h"
#include "namespaces.h"

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR,
	PAGE = 4096,
};

/* Log pages. */

static uint64_t sector_bytes(const struct hz_device_config *cfg)
{
	return HZ_SECTOR_BYTES + (cfg->protection == HZ_PROTECTION_NONE ? 0 : HZ_TUPLE_BYTES);
}

uint32_t placement_configurations(const struct hil *hil, void *page)
{
	struct nvme_fdp_configurations *log = page;
	struct nvme_fdp_configuration *one = (void *)(log + 1);
	uint32_t handles = hil->cfg->fdp_handles;
	struct hz_shape shape;

	hz_namespace_shape(hil->cfg, 0, &shape);
	one->bytes = (uint16_t)(sizeof(*one) + handles * sizeof(one->handle[0]));
	one->attributes = NVME_FDP_VALID | (has_volatile_cache(hil) ? NVME_FDP_VOLATILE_CACHE : 0);
	one->groups = 1;
	one->handles = (uint16_t)handles;
	one->identifiers_most = (uint16_t)(handles - 1);
	one->namespaces = hil->namespaces.count;
	one->unit_bytes = shape.backing_sectors * HZ_SECTOR_BYTES;
	for (uint32_t i = 0; i < handles; i++)
		one->handle[i].type = NVME_HANDLE_INITIALLY_ISOLATED;
	log->bytes = (uint32_t)sizeof(*log) + one->bytes;
	return log->bytes;
}

uint32_t placement_handles(const struct hil *hil, struct nvme_handles_log *log)
{
	uint8_t use = namespace_exists(&hil->namespaces.slot[0]) ? NVME_HANDLE_OF_HOST : NVME_HANDLE_UNUSED;

	log->count = (uint16_t)hil->cfg->fdp_handles;
	for (uint32_t i = 0; i < log->count; i++)
		log->handle[i].use = use;
	return (uint32_t)(sizeof(*log) + log->count * sizeof(log->handle[0]));
}

/* Erased blocks by kind of cells: all of their sectors. */
static uint64_t erased_sectors(const struct hil *hil, const struct hz_log_energy *energy)
{
	struct hz_shape shape;
	uint64_t normal, slc;

	hz_namespace_shape(hil->cfg, 0, &shape);
	normal = shape.superblock_sectors / shape.superblock_planes;
	slc = shape.slc_superblock_sectors / shape.planes;
	return energy->erases[HZ_CELLS_NORMAL] * normal + energy->erases[HZ_CELLS_SLC] * slc;
}

uint32_t placement_statistics(const struct hil *hil, uint64_t written_sectors, struct nvme_fdp_statistics *log)
{
	struct hz_log_energy energy;
	struct hz_log_flash flash;
	uint64_t programmed = 0;

	hil->device.flash_published(hil->device.ctx, &flash, &energy);
	for (unsigned cause = 0; cause < HZ_CAUSES; cause++)
		programmed += flash.program_sectors[cause];
	log->host_bytes[0] = written_sectors * sector_bytes(hil->cfg);
	log->media_bytes[0] = programmed * sector_bytes(hil->cfg);
	log->erased_bytes[0] = erased_sectors(hil, &energy) * sector_bytes(hil->cfg);
	return sizeof(*log);
}

/* Events. */

static const uint8_t event_types[] = { NVME_FDP_UNIT_NOT_FULL, NVME_FDP_INVALID_PLACEMENT, NVME_FDP_MEDIA_REALLOCATED };
enum { TYPES = sizeof(event_types), NSID = 1 };

static void show_event(const struct ftl_placement_event *event, struct nvme_fdp_event *out)
{
	uint64_t milliseconds = event->at_ns / 1000000;
	bool exists = event->type != NVME_FDP_INVALID_PLACEMENT;

	*out = (struct nvme_fdp_event){
		.type = event->type,
		.flags = NVME_FDP_HAS_PLACEMENT | NVME_FDP_HAS_NSID | (exists ? NVME_FDP_HAS_LOCATION : 0),
		.placement = event->placement,
		.nsid = NSID,
		.handle = exists ? (uint8_t)event->placement : 0,
	};
	memcpy(out->milliseconds, &milliseconds, sizeof(out->milliseconds));
	if (event->type != NVME_FDP_MEDIA_REALLOCATED)
		return;
	out->lba_valid = NVME_FDP_LBA_VALID;
	out->moved = (uint16_t)(event->moved < UINT16_MAX ? event->moved : UINT16_MAX);
	memcpy(out->first_lba, &event->lba, sizeof(out->first_lba));
}

uint32_t placement_events(const struct hil *hil, bool of_host, struct nvme_fdp_events *log)
{
	struct ftl_placement_event event[NVME_FDP_EVENTS_MOST];

	memset(log, 0, sizeof(*log));
	log->count = hil->device.placement_events(hil->device.ctx, 0, of_host, event);
	for (uint32_t i = 0; i < log->count; i++)
		show_event(&event[i], &log->event[i]);
	return (uint32_t)(offsetof(struct nvme_fdp_events, event) + log->count * sizeof(log->event[0]));
}

/* CDW11: placement handle, number of event types. */
static uint16_t check_events(const struct hil *hil, const struct nvme_sqe *sqe)
{
	if (sqe->nsid != NSID)
		return NVME_INVALID_NAMESPACE | NVME_DNR;
	if (!namespace_is_attached(&hil->namespaces.slot[0]) || (sqe->cdw11 & 0xffff) >= hil->cfg->fdp_handles)
		return BAD_FIELD;
	return NVME_SUCCESS;
}

static uint32_t noted(const struct hil *hil, uint32_t select, uint32_t handle)
{
	return select == NVME_FEAT_CURRENT ? hil->device.placement_events_noted(hil->device.ctx, 0, handle) : 0;
}

uint16_t placement_get_events(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint32_t select = sqe->cdw10 >> 8 & 7, room = sqe->cdw11 >> 16 & 0xff, types = noted(hil, select, sqe->cdw11 & 0xffff);
	struct nvme_fdp_event_choice choice[TYPES];
	uint16_t status = check_events(hil, sqe);
	uint8_t *pages[PRP_MAX_PAGES];
	struct sgl sgl;

	if (status)
		return status;
	if (select == NVME_FEAT_CAPABILITIES) {
		result->dw0 = NVME_FEAT_CAP_CHANGEABLE | NVME_FEAT_CAP_PER_NAMESPACE;
		return NVME_SUCCESS;
	}
	for (uint32_t i = 0; i < TYPES; i++)
		choice[i] = (struct nvme_fdp_event_choice){ event_types[i], !!(types & ftl_placement_type(event_types[i])) };
	result->dw0 = TYPES;
	if (!room)
		return NVME_SUCCESS;
	status = prp_parse(&hil->bus, sqe->prp1, sqe->prp2, room * (uint32_t)sizeof(choice[0]), pages, &sgl);
	if (!status)
		sgl_write(&sgl, 0, choice, (room < TYPES ? room : TYPES) * (uint32_t)sizeof(choice[0]));
	return status;
}

static bool is_known(uint8_t type)
{
	for (uint32_t i = 0; i < TYPES; i++)
		if (event_types[i] == type)
			return true;
	return false;
}

/* CDW12 bit 0: they are noted from now on, or no longer. The list is read once, as the host may change it. */
uint16_t placement_set_events(struct hil *hil, const struct nvme_sqe *sqe)
{
	uint32_t handle = sqe->cdw11 & 0xffff, count = sqe->cdw11 >> 16 & 0xff, types = 0, now;
	uint16_t status = check_events(hil, sqe);
	uint8_t *pages[PRP_MAX_PAGES], type[UINT8_MAX];
	struct sgl sgl;

	if (!status && count)
		status = prp_parse(&hil->bus, sqe->prp1, sqe->prp2, count, pages, &sgl);
	if (status)
		return status;
	if (count)
		sgl_read(&sgl, 0, type, count);
	for (uint32_t i = 0; i < count; i++) {
		if (!is_known(type[i]))
			return BAD_FIELD;
		types |= ftl_placement_type(type[i]);
	}
	now = noted(hil, NVME_FEAT_CURRENT, handle);
	hil->device.note_placement_events(hil->device.ctx, 0, handle, sqe->cdw12 & 1 ? now | types : now & ~types);
	return NVME_SUCCESS;
}

/* Namespaces, and the directive. */

uint16_t placement_check_handles(const struct hil *hil, const void *wish)
{
	const struct nvme_handle_list *list = wish;
	bool all = list->count == hil->cfg->fdp_handles;

	if (!hil->cfg->fdp_handles || !list->count)
		return NVME_SUCCESS;
	for (uint32_t i = 0; all && i < list->count; i++)
		all = list->handle[i] == i;
	return all ? NVME_SUCCESS : NVME_INVALID_HANDLE_LIST | NVME_DNR;
}

uint16_t admin_directive_send(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	(void)sqe, (void)result;
	return hil->cfg->fdp_handles ? BAD_FIELD : NVME_INVALID_OPCODE | NVME_DNR;
}

static uint16_t check_receive(struct hil *hil, const struct nvme_sqe *sqe)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, sqe->nsid);
	uint32_t operation = sqe->cdw11 & 0xff, directive = sqe->cdw11 >> 8 & 0xff;

	if (!hil->cfg->fdp_handles)
		return NVME_INVALID_OPCODE | NVME_DNR;
	if (!slot)
		return NVME_INVALID_NAMESPACE | NVME_DNR;
	if (!namespace_is_attached(slot) || directive != NVME_DIRECTIVE_IDENTIFY || operation != NVME_DIRECTIVE_RETURN)
		return BAD_FIELD;
	return NVME_SUCCESS;
}

/* It outlives a controller reset, as it cannot be disabled. */
uint16_t admin_directive_receive(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	struct nvme_directives *directives = (struct nvme_directives *)hil->scratch;
	uint64_t bytes = ((uint64_t)sqe->cdw10 + 1) * 4;
	uint16_t status = check_receive(hil, sqe);
	uint8_t *pages[PRP_MAX_PAGES];
	struct sgl sgl;

	(void)result;
	if (status)
		return status;
	if (bytes > PAGE)
		bytes = PAGE;
	status = prp_parse(&hil->bus, sqe->prp1, sqe->prp2, (uint32_t)bytes, pages, &sgl);
	if (status)
		return status;
	memset(directives, 0, sizeof(*directives));
	directives->supported[0] = directives->enabled[0] = 1 << NVME_DIRECTIVE_IDENTIFY | 1 << NVME_DIRECTIVE_PLACEMENT;
	directives->persistent[0] = 1 << NVME_DIRECTIVE_PLACEMENT;
	sgl_write(&sgl, 0, directives, (uint32_t)bytes);
	return NVME_SUCCESS;
}
