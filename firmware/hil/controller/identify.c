/* Identify. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/controller/admin.h"

#include <string.h>

#include "hil/controller/controller.h"

enum {
	BAD_NAMESPACE = NVME_INVALID_NAMESPACE | NVME_DNR,
	PAGE = 4096,
	MDTS = 7, /* 2^7 * 4 KiB = HZ_MAX_TRANSFER_SECTORS */
	NO_LIMIT = 0xffffffff,
};

struct eui64 {
	uint8_t byte[8];
};
/* Locally administered. A namespace created in the place of another one has another identifier. */
static struct eui64 eui64_of(struct hil *hil, uint32_t nsid)
{
	uint32_t created = namespace_slot(&hil->namespaces, nsid)->created;

	return (struct eui64){ { 0x02, 'h', 'z', 0, (uint8_t)(created >> 16), (uint8_t)(created >> 8), (uint8_t)created, (uint8_t)nsid } };
}

/* A number of 16 bytes. */
static void put_bytes(uint8_t *field, uint64_t sectors)
{
	uint64_t bytes = sectors << HZ_SECTOR_SHIFT;

	memcpy(field, &bytes, sizeof(bytes));
}

static uint32_t nvm_sets(const struct namespace_table *table)
{
	uint32_t sets = 0;

	for (uint32_t i = 0; i < table->count; i++)
		sets = table->slot[i].set > sets ? table->slot[i].set : sets;
	return sets;
}
HZ_STATIC_ASSERT(1 << MDTS == HZ_MAX_TRANSFER_SECTORS, "MDTS names the largest transfer");

static void pad_field(char *field, size_t bytes, const char *text)
{
	size_t length = strlen(text);

	memset(field, ' ', bytes);
	memcpy(field, text, length < bytes ? length : bytes);
}

static void identify_controller(struct hil *hil, void *page)
{
	static const char nqn[] = "nqn.2026-11.org.hartzone:ssd";
	struct nvme_identify_controller *id = page;

	pad_field(id->sn, sizeof(id->sn), "HZ1");
	pad_field(id->mn, sizeof(id->mn), hil->zoned ? "Hartzone zoned SSD" : "Hartzone block SSD");
	pad_field(id->fr, sizeof(id->fr), HIL_FIRMWARE_REVISION);
	id->mdts = MDTS;
	id->cntlid = NVME_HZ_CONTROLLER_ID;
	id->ver = NVME_VERSION_2_0;
	id->oaes = feature_notices(hil->zoned);
	id->ctratt = NVME_CTRATT_NVM_SETS | NVME_CTRATT_ENDURANCE_GROUPS | (hil->cfg->fdp_handles ? NVME_CTRATT_FDP : 0);
	id->cntrltype = 1; /* I/O controller */
	id->oacs = NVME_OACS_DBBUF | NVME_OACS_NAMESPACES | NVME_OACS_FORMAT | NVME_OACS_SELF_TEST |
		   (hil->cfg->fdp_handles ? NVME_OACS_DIRECTIVES : 0); /* FNA 0: of one namespace, or all; so an erase */
	id->aerl = ASYNC_LIMIT - 1;
	id->frmw = 0x03; /* one slot, read only */
	id->lpa = NVME_LPA_EFFECTS | NVME_LPA_EXTENDED | NVME_LPA_TELEMETRY | NVME_LPA_SUPPORTED_PAGES;
	id->elpe = HIL_ERROR_ENTRIES - 1;
	id->sqes = 0x66;
	id->cqes = 0x44;
	id->maxcmd = HZ_MAX_QUEUE_DEPTH;
	id->nn = hil->namespaces.count;
	id->mnan = hil->namespaces.count;
	put_bytes(id->tnvmcap, namespaces_sectors(&hil->namespaces, 0, false));
	put_bytes(id->unvmcap, namespaces_sectors(&hil->namespaces, 0, true));
	id->edstt = (uint16_t)(1 + (namespaces_sectors(&hil->namespaces, 0, false) << HZ_SECTOR_SHIFT >> 30) / 60); /* 1 GiB a second */
	id->dsto = NVME_DSTO_ONE_TEST;
	id->sanicap = sanitize_capabilities();
	id->nsetidmax = (uint16_t)nvm_sets(&hil->namespaces);
	id->endgidmax = HIL_ENDURANCE_GROUP;
	id->oncs = NVME_ONCS_COMPARE | NVME_ONCS_WRITE_UNCORRECTABLE | NVME_ONCS_VERIFY | NVME_ONCS_DATASET_MANAGEMENT |
		   NVME_ONCS_WRITE_ZEROES | NVME_ONCS_SELECT | (hil->cfg->copies ? NVME_ONCS_COPY : 0);
	id->ocfs = NVME_OCFS_FORMAT_0;
	id->vwc = NVME_VWC_FLUSH_ALL | (has_volatile_cache(hil) ? NVME_VWC_PRESENT : 0);
	memcpy(id->subnqn, nqn, sizeof(nqn));
	id->psd[0].mp = 500; /* 5 W */
	id->vs[NVME_HZ_VS_COPY] = hil->zoned && hil->cfg->copies ? NVME_HZ_COPY_APPENDS : 0;
	id->vs[NVME_HZ_VS_IN_PLACE] = hil->cfg->in_place_sectors ? NVME_HZ_IN_PLACE_WRITES : 0;
	id->vs[NVME_HZ_VS_PROTECTION] = hil->cfg->plp_mode != HZ_PLP_NONE ? NVME_HZ_DURABLE_WRITES : 0;
}

/* Fields common to all namespaces. */
static void common_namespace(struct hil *hil, struct nvme_identify_namespace *id)
{
	id->dlfeat = NVME_DLFEAT_READS_ZEROES | NVME_DLFEAT_WRITE_ZEROES;
	if (hil->cfg->copies) {
		id->mssrl = HZ_COPY_SECTORS;
		id->mcl = HZ_COPY_SECTORS;
		id->msrc = HZ_COPY_RANGES - 1; /* 0's based */
	}
	id->lbaf[0].lbads = HZ_SECTOR_SHIFT;
	if (hil->cfg->protection == HZ_PROTECTION_TYPE1) {
		id->lbaf[0].ms = HZ_TUPLE_BYTES;
		id->mc = NVME_MC_SEPARATE;
		id->dpc = NVME_DPC_TYPE1 | NVME_DPC_LAST_BYTES;
		id->dps = NVME_DPS_TYPE1;
	}
}

static void identify_namespace(struct hil *hil, uint32_t nsid, void *page)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, nsid);
	const struct eui64 eui64 = eui64_of(hil, nsid);
	struct nvme_identify_namespace *id = page;

	common_namespace(hil, id);
	id->nsze = slot->sectors;
	id->ncap = id->nsze;
	id->nuse = id->nsze;
	put_bytes(id->nvmcap, slot->capacity);
	id->nvmsetid = (uint16_t)slot->set;
	id->endgid = HIL_ENDURANCE_GROUP;
	memcpy(id->eui64, &eui64, sizeof(eui64));
}

static void zoned_namespace(struct hil *hil, const struct namespace_slot *slot, void *page)
{
	struct nvme_zns_identify_namespace *id = page;

	id->ozcs = NVME_ZNS_OZCS_READ_ACROSS;
	id->mar = hil->cfg->max_active ? hil->cfg->max_active - 1 : NO_LIMIT;
	id->mor = hil->cfg->max_open ? hil->cfg->max_open - 1 : NO_LIMIT;
	id->lbafe[0].zsze = slot->zone_size;
	if (!hil->cfg->zrwa_count)
		return;
	id->ozcs |= NVME_ZNS_OZCS_ZRWA;
	id->numzrwa = hil->cfg->zrwa_count - 1;
	id->zrwafg = (uint16_t)hil->cfg->zrwa_flush_sectors;
	id->zrwas = (uint16_t)hil->cfg->zrwa_sectors;
	id->zrwacap = NVME_ZRWACAP_EXPLICIT_FLUSH;
}

static uint8_t own_csi(const struct hil *hil) { return hil->zoned ? NVME_CSI_ZNS : NVME_CSI_NVM; }

static uint8_t *descriptor(uint8_t *at, uint8_t type, const void *value, uint8_t bytes)
{
	const struct nvme_namespace_descriptor head = { .nidt = type, .nidl = bytes };

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), value, bytes);
	return at + sizeof(head) + bytes;
}

static void descriptors(struct hil *hil, uint32_t nsid, void *page)
{
	const struct eui64 eui64 = eui64_of(hil, nsid);
	uint8_t *at = descriptor(page, NVME_NIDT_EUI64, &eui64, sizeof(eui64)), csi = own_csi(hil);

	descriptor(at, NVME_NIDT_CSI, &csi, 1);
}

static void identify_independent(struct hil *hil, uint32_t nsid, void *page)
{
	struct nvme_independent_namespace *id = page;

	id->nvmsetid = (uint16_t)namespace_slot(&hil->namespaces, nsid)->set;
	id->endgid = HIL_ENDURANCE_GROUP;
	id->nstat = 1; /* ready */
}

/* The one combination. ZNS builds on the NVM Command Set and names it too. */
static void command_sets(struct hil *hil, void *page) { *(uint64_t *)page = 1u << NVME_CSI_NVM | 1u << own_csi(hil); }

/* Command sets of the controller: the namespaces' own, and NVM, the base of each. */
static bool known_csi(const struct hil *hil, const struct nvme_sqe *sqe)
{
	uint32_t csi = sqe->cdw11 >> 24;

	return csi == NVME_CSI_NVM || csi == own_csi(hil);
}

/* CNS 05h, 1Bh: the part of a command set about a namespace. NVM adds formats of protection information: all zero, a guard of 16 bits
 * and no storage tag. Zeros for a namespace that is not attached, or does not exist. */
static uint16_t csi_namespace(struct hil *hil, const struct nvme_sqe *sqe, void *page, bool attached)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, sqe->nsid);

	if (!slot)
		return BAD_NAMESPACE;
	if (!known_csi(hil, sqe))
		return NVME_INVALID_IOCS | NVME_DNR;
	if (sqe->cdw11 >> 24 == NVME_CSI_ZNS && (attached ? namespace_is_attached(slot) : namespace_exists(slot)))
		zoned_namespace(hil, slot, page);
	return NVME_SUCCESS;
}

/* CNS 06h: ZASL = 0: MDTS limits appends; WZSL = 0: no limit on zeros; a verify is as long as a read. */
static uint16_t csi_controller(struct hil *hil, const struct nvme_sqe *sqe, void *page)
{
	if (!known_csi(hil, sqe))
		return NVME_INVALID_IOCS | NVME_DNR;
	if (sqe->cdw11 >> 24 == NVME_CSI_NVM)
		((struct nvme_nvm_identify_controller *)page)->vsl = MDTS;
	return NVME_SUCCESS;
}

static uint16_t list(struct hil *hil, const struct nvme_sqe *sqe, bool attached, void *page)
{
	if (sqe->nsid >= NVME_NSID_ALL - 1)
		return BAD_NAMESPACE;
	namespaces_list(&hil->namespaces, sqe->nsid, attached, page);
	return NVME_SUCCESS;
}

static uint16_t csi_list(struct hil *hil, const struct nvme_sqe *sqe, bool attached, void *page)
{
	if (sqe->nsid >= NVME_NSID_ALL - 1)
		return BAD_NAMESPACE;
	if (!known_csi(hil, sqe))
		return NVME_INVALID_IOCS | NVME_DNR;
	return sqe->cdw11 >> 24 == own_csi(hil) ? list(hil, sqe, attached, page) : NVME_SUCCESS;
}

/* CNS 04h: from a set on. */
static uint16_t list_sets(struct hil *hil, const struct nvme_sqe *sqe, void *page)
{
	const struct namespace_table *table = &hil->namespaces;
	struct nvme_nvm_sets *out = page;
	uint32_t first = sqe->cdw11 & 0xffff;

	for (uint32_t id = first ? first : 1; id <= nvm_sets(table); id++) {
		struct nvme_nvm_set *set = &out->set[out->count++];

		set->nvmsetid = (uint16_t)id;
		set->endgid = HIL_ENDURANCE_GROUP;
		put_bytes(set->capacity, namespaces_sectors(table, id, false));
		put_bytes(set->unallocated, namespaces_sectors(table, id, true));
	}
	return NVME_SUCCESS;
}

/* CNS 13h, and 12h for the controllers of a namespace: from a controller on; there is one. */
static uint16_t list_controllers(struct hil *hil, const struct nvme_sqe *sqe, bool attached, void *page)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, sqe->nsid);
	struct nvme_controller_list *out = page;

	if (attached && !slot)
		return BAD_NAMESPACE;
	if (sqe->cdw10 >> 16 <= NVME_HZ_CONTROLLER_ID && (!attached || namespace_is_attached(slot)))
		out->id[out->count++] = NVME_HZ_CONTROLLER_ID;
	return NVME_SUCCESS;
}

typedef void fill_fn(struct hil *hil, uint32_t nsid, void *page);

/* All zero for a namespace that is not attached, or does not exist. */
static uint16_t of_namespace(struct hil *hil, const struct nvme_sqe *sqe, void *page, bool attached, fill_fn *fill)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, sqe->nsid);

	if (!slot)
		return BAD_NAMESPACE;
	if (attached ? namespace_is_attached(slot) : namespace_exists(slot))
		fill(hil, sqe->nsid, page);
	return NVME_SUCCESS;
}

static uint16_t descriptors_of(struct hil *hil, const struct nvme_sqe *sqe, void *page)
{
	const struct namespace_slot *slot = namespace_slot(&hil->namespaces, sqe->nsid);

	if (slot && !namespace_is_attached(slot))
		return NVME_INVALID_FIELD | NVME_DNR;
	return of_namespace(hil, sqe, page, true, descriptors);
}

static uint16_t build_of_namespaces(struct hil *hil, const struct nvme_sqe *sqe, void *page)
{
	switch (sqe->cdw10 & 0xff) {
	case NVME_CNS_NAMESPACE:
		if (sqe->nsid != NVME_NSID_ALL)
			return of_namespace(hil, sqe, page, true, identify_namespace);
		common_namespace(hil, page);
		return NVME_SUCCESS;
	case NVME_CNS_ACTIVE_NAMESPACES: return list(hil, sqe, true, page);
	case NVME_CNS_DESCRIPTORS: return descriptors_of(hil, sqe, page);
	case NVME_CNS_CSI_NAMESPACE: return csi_namespace(hil, sqe, page, true);
	case NVME_CNS_CSI_ACTIVE_NAMESPACES: return csi_list(hil, sqe, true, page);
	case NVME_CNS_INDEPENDENT_NAMESPACE: return of_namespace(hil, sqe, page, true, identify_independent);
	case NVME_CNS_ALLOCATED_NAMESPACES: return list(hil, sqe, false, page);
	case NVME_CNS_ALLOCATED_NAMESPACE: return of_namespace(hil, sqe, page, false, identify_namespace);
	case NVME_CNS_CSI_ALLOCATED_NAMESPACES: return csi_list(hil, sqe, false, page);
	case NVME_CNS_CSI_ALLOCATED_NAMESPACE: return csi_namespace(hil, sqe, page, false);
	default: return NVME_INVALID_FIELD | NVME_DNR;
	}
}

static uint16_t build_identify(struct hil *hil, const struct nvme_sqe *sqe, void *page)
{
	switch (sqe->cdw10 & 0xff) {
	case NVME_CNS_CONTROLLER: identify_controller(hil, page); return NVME_SUCCESS;
	case NVME_CNS_NVM_SETS: return list_sets(hil, sqe, page);
	case NVME_CNS_CSI_CONTROLLER: return csi_controller(hil, sqe, page);
	case NVME_CNS_ATTACHED_CONTROLLERS: return list_controllers(hil, sqe, true, page);
	case NVME_CNS_CONTROLLERS: return list_controllers(hil, sqe, false, page);
	case NVME_CNS_COMMAND_SETS: command_sets(hil, page); return NVME_SUCCESS;
	default: return build_of_namespaces(hil, sqe, page);
	}
}

/* Copy the page to the host memory of the command's PRPs; charges nothing. */
static uint16_t send_identify(struct hil *hil, const struct nvme_sqe *sqe)
{
	uint8_t *pages[PRP_MAX_PAGES];
	struct sgl sgl;
	uint16_t status = prp_parse(&hil->bus, sqe->prp1, sqe->prp2, PAGE, pages, &sgl);

	if (status == NVME_SUCCESS)
		sgl_write(&sgl, 0, hil->scratch, PAGE);
	return status;
}

uint16_t admin_identify(struct hil *hil, const struct nvme_sqe *sqe, struct admin_result *result)
{
	uint16_t status;

	(void)result;
	memset(hil->scratch, 0, PAGE);
	status = build_identify(hil, sqe, hil->scratch);
	return status ? status : send_identify(hil, sqe);
}
