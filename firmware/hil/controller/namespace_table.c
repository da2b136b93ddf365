/* Namespaces of the controller: the table, and its management commands. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/namespace_table.h"

#include <string.h>

#include "hil/controller/controller.h"
#include "namespaces.h"

/* The table of namespaces. */

void namespace_table_init(struct namespace_table *table, const struct hz_device_config *cfg, const struct controller_ops *device)
{
	struct hz_shape shape;

	table->count = cfg->namespaces;
	for (uint32_t i = 0; i < table->count; i++) {
		struct namespace_record record = device->namespace_record(device->ctx, i);

		hz_namespace_shape(cfg, i, &shape);
		table->slot[i] = (struct namespace_slot){
			.capacity = shape.namespace_sectors,
			.zone_size = shape.zone_size_sectors,
			.sectors = record.sectors ? record.sectors : shape.namespace_sectors,
			.conventional = shape.conventional_zones * shape.zone_size_sectors,
			.set = hz_nvm_set(cfg, i),
			.created = record.created,
			.state = (enum hz_namespace_state)record.state,
		};
	}
}

uint64_t namespaces_sectors(const struct namespace_table *table, uint32_t set, bool free_only)
{
	uint64_t sectors = 0;

	for (uint32_t i = 0; i < table->count; i++) {
		const struct namespace_slot *slot = &table->slot[i];

		if ((!set || slot->set == set) && !(free_only && namespace_exists(slot)))
			sectors += slot->capacity;
	}
	return sectors;
}

bool namespace_set_state(struct namespace_table *table, uint32_t number, enum hz_namespace_state state)
{
	struct namespace_slot *slot = &table->slot[number];
	bool was_attached = namespace_is_attached(slot);

	slot->state = state;
	if (namespace_is_attached(slot) == was_attached)
		return false;
	table->changed |= 1u << number;
	return true;
}

uint32_t namespaces_attached(const struct namespace_table *table)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < table->count; i++)
		mask |= (uint32_t)namespace_is_attached(&table->slot[i]) << i;
	return mask;
}

void namespaces_list(const struct namespace_table *table, uint32_t above, bool attached, uint32_t *list)
{
	for (uint32_t i = above; i < table->count; i++)
		if (attached ? namespace_is_attached(&table->slot[i]) : namespace_exists(&table->slot[i]))
			*list++ = i + 1;
}

void namespaces_list_changed(struct namespace_table *table, bool take, uint32_t *list)
{
	for (uint32_t changed = table->changed; changed; changed &= changed - 1)
		*list++ = (uint32_t)__builtin_ctz(changed) + 1;
	if (take)
		table->changed = 0;
}

/* Namespaces are created, deleted, attached, detached. */

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR,
	CREATE = 0, /* CDW10 3:0 of Namespace Management */
	DELETE = 1,
	ATTACH = 0, /* … of Namespace Attachment */
	DETACH = 1,
	PAGE = 4096,
};

/* The notice is for every change of the active namespace list, by any controller, except a deletion commanded on this controller (base
 * spec 5.2, in the words of revision 2.1, figure 151). A created namespace is active once attached. The list of changed namespaces
 * (5.16.1.5) also has deleted ones. */
static void tell_of_namespaces(struct hil *hil, enum hz_namespace_state state)
{
	if (state != HZ_NAMESPACE_DELETED && hil->events.enabled & NVME_NOTICE_NAMESPACES)
		async_events_raise(&hil->events, NVME_AEN_NOTICE, NVME_AEN_NOTICE_NAMESPACES);
}

/* Change the host's view and the persistent record together. */
static void set_namespace_state(struct hil *hil, uint32_t number, enum hz_namespace_state state)
{
	const struct namespace_slot *slot = &hil->namespaces.slot[number];

	if (namespace_set_state(&hil->namespaces, number, state))
		tell_of_namespaces(hil, state);
	hil->device.keep_namespace(hil->device.ctx, number, (struct namespace_record){ slot->sectors, state, slot->created });
	fetch_set_namespace(&hil->group.fetch, number, slot->sectors, namespace_is_attached(slot), namespace_is_formatting(slot));
	life_order(hil);
}

static uint16_t read_wish(struct hil *hil, const struct nvme_sqe *sqe)
{
	uint8_t *pages[PRP_MAX_PAGES];
	struct sgl sgl;
	uint16_t status = prp_parse(&hil->bus, sqe->prp1, sqe->prp2, PAGE, pages, &sgl);

	if (!status)
		sgl_read(&sgl, 0, hil->scratch, PAGE);
	return status;
}

/* --- a slot's data go away --- */

static void wipe_on(struct hil *hil);

static void on_wiped(struct ftl_request *req)
{
	struct hil *hil = (struct hil *)((char *)req - offsetof(struct hil, change.req));

	if (req->status && hil->change.step > 1) /* a cancelled namespace has nothing to say */
		hil->change.step = UINT32_MAX;
	wipe_on(hil);
}

static void ask_ftl(struct hil *hil, uint8_t op, uint8_t flags)
{
	struct namespace_change *change = &hil->change;

	change->req = (struct ftl_request){ .op = op, .flags = flags, .reply_to = &hil->group.thread, .done = on_wiped };
	if (op == FTL_CANCEL)
		change->req.lba = hil->life.number - 1;
	if (op == FTL_DEALLOCATE) {
		change->list[0] = (uint8_t *)&change->all_conventional;
		change->req.sectors = 1;
		change->req.sgl = (struct sgl){ change->list, 0, sizeof(change->all_conventional) };
	}
	hil->device.submit(hil->device.ctx, 0, &change->req, change->number);
}

static void answer_change(struct hil *hil, uint16_t status, uint32_t dw0)
{
	const struct nvme_sqe *sqe = &hil->change.sqe;

	hil->change.busy = false;
	hil->group.queues.admin_wanted = true;
	if (status)
		error_log_add(&hil->errors, 0, sqe->cid, status, 0, sqe->nsid);
	if (life_is_ready(&hil->life) && hil->change.why != WIPE_RESUMES)
		admin_answer(&hil->answers, sqe->cid, status, dw0);
	life_step(hil);
}

static uint32_t format_field(const struct nvme_sqe *sqe, enum nvme_format_field first, uint32_t mask) { return sqe->cdw10 >> first & mask; }

static bool erases(const struct hil *hil, uint32_t number)
{
	if (hil->change.why == WIPE_SANITIZES)
		return true;
	if (hil->change.why == WIPE_RESUMES)
		return hil->namespaces.slot[number].state == HZ_NAMESPACE_ERASING;
	return hil->change.why == WIPE_FORMATS && format_field(&hil->change.sqe, NVME_FORMAT_SES, 7) == NVME_FORMAT_USER_DATA;
}

static const enum nvme_self_test_end test_ends[] = {
	[WIPE_DELETES] = NVME_SELF_TEST_REMOVED,
	[WIPE_FORMATS] = NVME_SELF_TEST_FORMATTED,
	[WIPE_RESUMES] = NVME_SELF_TEST_FORMATTED,
	[WIPE_SANITIZES] = NVME_SELF_TEST_SANITIZED,
};

/* Commands fetched before belong to an ended life of this namespace, at any later time. */
static void begin_wipe(struct hil *hil, uint32_t number)
{
	enum hz_namespace_state state = erases(hil, number) ? HZ_NAMESPACE_ERASING : HZ_NAMESPACE_FORMATTING;

	hil->change.number = number;
	hil->change.step = 0;
	hil->change.erases = state == HZ_NAMESPACE_ERASING;
	hil->change.all_conventional = (struct nvme_dsm_range){ .nlb = (uint32_t)hil->namespaces.slot[number].conventional };
	hil->life.number++;
	self_test_drop(hil, number, test_ends[hil->change.why]);
	if (hil->change.why == WIPE_SANITIZES)
		life_order(hil);
	else
		set_namespace_state(hil, number, hil->change.why == WIPE_DELETES ? HZ_NAMESPACE_DELETED : state);
	wipe_on(hil);
}

static void end_creation(struct hil *hil, uint32_t number, uint64_t sectors)
{
	struct namespace_slot *slot = &hil->namespaces.slot[number];

	slot->sectors = sectors;
	slot->created++;
	hil->device.forget_placement_events(hil->device.ctx, number);
	set_namespace_state(hil, number, HZ_NAMESPACE_DETACHED);
}

static bool wants_wipe(const struct namespace_slot *slot, enum namespace_wipe why)
{
	switch (why) {
	case WIPE_DELETES: return namespace_exists(slot);
	case WIPE_FORMATS: return namespace_is_attached(slot);
	case WIPE_SANITIZES: return true;
	default: return namespace_is_formatting(slot);
	}
}

static bool wipe_next(struct hil *hil)
{
	for (uint32_t i = hil->change.number + 1; hil->change.sqe.nsid == NVME_NSID_ALL && i < hil->namespaces.count; i++)
		if (wants_wipe(&hil->namespaces.slot[i], hil->change.why)) {
			begin_wipe(hil, i);
			return true;
		}
	return false;
}

static void end_sanitized_slot(struct hil *hil)
{
	bool good = hil->change.step != UINT32_MAX;

	if (good && wipe_next(hil))
		return;
	hil->change.busy = false;
	sanitize_ended(hil, good);
	life_step(hil);
}

static void end_wipe(struct hil *hil)
{
	struct namespace_change *change = &hil->change;

	if (change->why == WIPE_SANITIZES) {
		end_sanitized_slot(hil);
		return;
	}
	if (change->step == UINT32_MAX) {
		answer_change(hil, change->req.status, 0);
		return;
	}
	if (change->sectors) {
		end_creation(hil, change->number, change->sectors);
		answer_change(hil, NVME_SUCCESS, change->number + 1);
		return;
	}
	set_namespace_state(hil, change->number, change->why == WIPE_DELETES ? HZ_NAMESPACE_FREE : HZ_NAMESPACE_ATTACHED);
	if (!wipe_next(hil))
		answer_change(hil, NVME_SUCCESS, 0);
}

/* A zone that cannot be reset is still readable, so it goes offline. */
static void wipe_on(struct hil *hil)
{
	struct namespace_change *change = &hil->change;

	if (change->step == 3 && !change->all_conventional.nlb)
		change->step++;
	switch (change->step) {
	case 0:
		change->step++;
		ask_ftl(hil, FTL_CANCEL, 0);
		break;
	case 1:
		change->step++;
		ask_ftl(hil, FTL_ZONE_RESET, FTL_ALL_ZONES);
		break;
	case 2:
		change->step++;
		ask_ftl(hil, FTL_ZONE_OFFLINE, FTL_ALL_ZONES);
		break;
	case 3:
		change->step++;
		ask_ftl(hil, FTL_DEALLOCATE, FTL_FUA);
		break;
	case 4:
		change->step++;
		ask_ftl(hil, FTL_FLUSH, 0);
		break;
	case 5:
		change->step++;
		if (change->erases) {
			ask_ftl(hil, FTL_ERASE, 0);
			break;
		}
		/* fall through */
	default: end_wipe(hil);
	}
}

static void begin_change(struct hil *hil, const struct nvme_sqe *sqe, enum namespace_wipe why, struct admin_result *result)
{
	hil->change.busy = result->later = true;
	hil->change.why = why;
	hil->change.sqe = *sqe;
	hil->change.sectors = 0;
}

/* Of all namespaces that want it. */
static uint16_t begin_wipes(struct hil *hil, const struct nvme_sqe *sqe, enum namespace_wipe why, struct admin_result *result)
{
	begin_change(hil, sqe, why, result);
	hil->change.number = UINT32_MAX;
	if (!wipe_next(hil))
		hil->change.busy = result->later = false; /* there is none */
	return NVME_SUCCESS;
}

/* --- management --- */

/* Only whole private namespaces of the one format are supported. */
static uint16_t check_wish(const struct hil *hil, const struct nvme_sqe *sqe, const struct nvme_identify_namespace *wish)
{
	uint32_t csi = sqe->cdw11 >> 24;

	if (sqe->nsid)
		return BAD_FIELD;
	if (csi != (hil->zoned ? NVME_CSI_ZNS : NVME_CSI_NVM))
		return NVME_IOCS_NOT_SUPPORTED | NVME_DNR;
	if (wish->flbas || wish->dps != (hil->cfg->protection == HZ_PROTECTION_TYPE1 ? NVME_DPS_TYPE1 : 0))
		return NVME_INVALID_FORMAT | NVME_DNR;
	if (wish->ncap < wish->nsze)
		return NVME_THIN_PROVISIONING | NVME_DNR;
	return !wish->nsze || wish->ncap > wish->nsze || wish->nmic || wish->endgid > 1 ? BAD_FIELD : NVME_SUCCESS;
}

/* The first free slot of the set (0: of any) that is large enough. */
static uint16_t find_slot(struct hil *hil, uint32_t set, uint64_t sectors, uint32_t *number)
{
	bool known = !set, free = false;

	for (uint32_t i = 0; i < hil->namespaces.count; i++) {
		const struct namespace_slot *slot = &hil->namespaces.slot[i];

		known |= slot->set == set;
		if ((set && slot->set != set) || namespace_exists(slot))
			continue;
		free = true;
		if (sectors > slot->capacity)
			continue;
		*number = i;
		return hil->zoned && sectors % slot->zone_size ? BAD_FIELD : NVME_SUCCESS;
	}
	if (!known)
		return BAD_FIELD;
	return (free ? NVME_NAMESPACE_CAPACITY : NVME_NAMESPACE_ID_UNAVAILABLE) | NVME_DNR;
}

static uint16_t create_namespace(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct nvme_identify_namespace *wish = (const struct nvme_identify_namespace *)hil->scratch;
	uint16_t status = read_wish(hil, sqe);
	uint32_t number = 0;

	if (!status)
		status = check_wish(hil, sqe, wish);
	if (!status)
		status = placement_check_handles(hil, hil->scratch);
	if (!status)
		status = find_slot(hil, wish->nvmsetid, wish->nsze, &number);
	if (status)
		return status;
	if (hil->namespaces.slot[number].state == HZ_NAMESPACE_FREE) {
		end_creation(hil, number, wish->nsze);
		result->dw0 = number + 1;
		return NVME_SUCCESS;
	}
	begin_change(hil, sqe, WIPE_DELETES, result);
	hil->change.sectors = wish->nsze;
	begin_wipe(hil, number);
	return NVME_SUCCESS;
}

static uint16_t delete_namespace(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, sqe->nsid);

	if (!slot)
		return NVME_INVALID_NAMESPACE | NVME_DNR;
	if (!namespace_exists(slot))
		return BAD_FIELD;
	begin_change(hil, sqe, WIPE_DELETES, result);
	begin_wipe(hil, sqe->nsid - 1);
	return NVME_SUCCESS;
}

uint16_t admin_namespace_management(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	switch (sqe->cdw10 & 0xf) {
	case CREATE: return create_namespace(hil, sqe, result);
	case DELETE: return sqe->nsid == NVME_NSID_ALL ? begin_wipes(hil, sqe, WIPE_DELETES, result) : delete_namespace(hil, sqe, result);
	default: return BAD_FIELD;
	}
}

/* --- format --- */

/* The one format: 4 KiB, with protection information as configured, in the last bytes of separate metadata. Without an erase
 * stale copies of user data stay in flash until their superblocks are erased; there is no key to change. */
static uint16_t check_format(const struct hil *hil, const struct nvme_sqe *sqe)
{
	uint32_t protection = hil->cfg->protection == HZ_PROTECTION_TYPE1 ? NVME_DPS_TYPE1 : 0;

	if (format_field(sqe, NVME_FORMAT_SES, 7) > NVME_FORMAT_USER_DATA)
		return BAD_FIELD;
	if (format_field(sqe, NVME_FORMAT_LBAFL, 15) || format_field(sqe, NVME_FORMAT_LBAFU, 3) ||
	    format_field(sqe, NVME_FORMAT_PI, 7) != protection)
		return NVME_INVALID_FORMAT | NVME_DNR;
	if (protection && (format_field(sqe, NVME_FORMAT_MSET, 1) || format_field(sqe, NVME_FORMAT_PIL, 1)))
		return NVME_INVALID_FORMAT | NVME_DNR;
	return NVME_SUCCESS;
}

uint16_t admin_format_nvm(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, sqe->nsid);
	uint16_t status;

	if (!slot && sqe->nsid != NVME_NSID_ALL)
		return NVME_INVALID_NAMESPACE | NVME_DNR;
	if (slot && !namespace_is_attached(slot))
		return BAD_FIELD;
	status = check_format(hil, sqe);
	if (status)
		return status;
	if (!slot)
		return begin_wipes(hil, sqe, WIPE_FORMATS, result);
	begin_change(hil, sqe, WIPE_FORMATS, result);
	begin_wipe(hil, sqe->nsid - 1);
	return NVME_SUCCESS;
}

void namespaces_resume_formats(struct hil *hil)
{
	const struct nvme_sqe all = { .cid = UINT16_MAX, .nsid = NVME_NSID_ALL };
	struct admin_result result;

	if (!hil->change.busy)
		begin_wipes(hil, &all, WIPE_RESUMES, &result);
}

/* --- sanitize --- */

enum { WIPE_STEPS = 6 };

void namespaces_sanitize(struct hil *hil)
{
	const struct nvme_sqe all = { .cid = UINT16_MAX, .nsid = NVME_NSID_ALL };
	struct admin_result result;

	begin_wipes(hil, &all, WIPE_SANITIZES, &result);
}

uint32_t namespaces_sanitized(const struct hil *hil)
{
	uint32_t step = hil->change.step ? hil->change.step - 1 : 0; /* the one under way */

	return ((hil->change.number * WIPE_STEPS + step) << 16) / (hil->namespaces.count * WIPE_STEPS);
}

void namespaces_are_sanitized(struct hil *hil)
{
	for (uint32_t i = 0; i < hil->namespaces.count; i++) {
		const struct namespace_slot *slot = &hil->namespaces.slot[i];

		if (namespace_is_formatting(slot))
			set_namespace_state(hil, i, HZ_NAMESPACE_ATTACHED);
		else if (slot->state == HZ_NAMESPACE_DELETED)
			set_namespace_state(hil, i, HZ_NAMESPACE_FREE);
	}
}

void namespaces_serve(struct hil *hil, uint8_t sanitize)
{
	hil->group.fetch.sanitize = sanitize;
	for (uint32_t i = 0; i < hil->namespaces.count; i++) {
		const struct namespace_slot *slot = &hil->namespaces.slot[i];

		fetch_set_namespace(&hil->group.fetch, i, slot->sectors, namespace_is_attached(slot), namespace_is_formatting(slot));
	}
	life_order(hil);
}

/* --- attachment --- */

/* A list of the one controller. */
static bool names_us(const struct nvme_controller_list *list) { return list->count == 1 && list->id[0] == NVME_HZ_CONTROLLER_ID; }

uint16_t admin_namespace_attachment(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, sqe->nsid);
	uint32_t select = sqe->cdw10 & 0xf;
	uint16_t status;

	(void)result;
	if (select > DETACH)
		return BAD_FIELD;
	if (!slot)
		return NVME_INVALID_NAMESPACE | NVME_DNR;
	if (!namespace_exists(slot))
		return BAD_FIELD;
	status = read_wish(hil, sqe);
	if (status)
		return status;
	if (!names_us((const struct nvme_controller_list *)hil->scratch))
		return NVME_CONTROLLER_LIST | NVME_DNR;
	if (namespace_is_attached(slot) == (select == ATTACH))
		return (select == ATTACH ? NVME_NAMESPACE_ATTACHED : NVME_NAMESPACE_NOT_ATTACHED) | NVME_DNR;
	set_namespace_state(hil, sqe->nsid - 1, select == ATTACH ? HZ_NAMESPACE_ATTACHED : HZ_NAMESPACE_DETACHED);
	return NVME_SUCCESS;
}
