/* Commands: their pool, the decoder of I/O commands (NVM Command Set 1.0 section 3, ZNS 1.1 section 3), and protection information. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hil/queue/command.h"

#include "lt/arch.h"
#include "lt/arena.h"

/* Pool of commands. */

void command_pool_init(struct command_pool *pool, struct arena *arena, uint32_t count)
{
	struct command *command = arena_alloc(arena, count, sizeof(*command), "HIL commands");

	/* A DMA engine fetches PRP entries from the host as it goes; here they are looked up beforehand. */
	arena_part_is_model(arena, count * sizeof(command->page), "HIL commands");
	for (uint32_t i = 0; i + 1 < count; i++)
		command[i].next = &command[i + 1];
	*pool = (struct command_pool){ .free = command, .count = count, .all = command };
}

/* Decoder of the NVM and zoned I/O commands of a namespace (NVM Command Set 1.0 section 3, ZNS 1.1 section 3). */

enum {
	BAD_FIELD = NVME_INVALID_FIELD | NVME_DNR,
	ZONE_ALL = 1 << 8,      /* CDW13 of Zone Management Send: select all */
	ZONE_ZRWA = 1 << 9,     /* CDW13 of Zone Management Send, Open: allocate a random write area */
	ZONE_PARTIAL = 1 << 16, /* CDW13 of Zone Management Receive: partial report */
	MAX_REPORT_BYTES = HZ_MAX_TRANSFER_SECTORS * HZ_SECTOR_BYTES,
};

static uint64_t sqe_lba(const struct nvme_sqe *sqe) { return (uint64_t)sqe->cdw11 << 32 | sqe->cdw10; }

static uint16_t decode_range(const struct io_limits *limits, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	uint64_t lba = sqe_lba(sqe);

	req->lba = lba;
	req->sectors = (sqe->cdw12 & 0xffff) + 1;
	if (lba >= limits->namespace_sectors || req->sectors > limits->namespace_sectors - lba)
		return NVME_LBA_OUT_OF_RANGE | NVME_DNR;
	return NVME_SUCCESS;
}

static uint16_t decode_data(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	if (req->sectors > HZ_MAX_TRANSFER_SECTORS)
		return BAD_FIELD;
	return prp_parse(&limits->bus, sqe->prp1, sqe->prp2, req->sectors << HZ_SECTOR_SHIFT, pages, &req->sgl);
}

/* No data move, but the flash is read: no longer than a read (VSL of Identify). */
static uint16_t decode_verify(const struct io_limits *limits, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	uint16_t status = decode_range(limits, sqe, req);

	req->op = FTL_VERIFY;
	return status || req->sectors <= HZ_MAX_TRANSFER_SECTORS ? status : BAD_FIELD;
}

static uint16_t decode_read(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	uint16_t status = decode_range(limits, sqe, req);

	req->op = sqe->opcode == NVME_IO_COMPARE ? FTL_COMPARE : FTL_READ;
	return status ? status : decode_data(limits, sqe, pages, req);
}

/* Where the directive is not known, its fields are not looked at. Whether the identifier exists is for the FTL to say. */
static uint16_t decode_placement(const struct io_limits *limits, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	uint32_t directive = sqe->cdw12 >> NVME_RW_DTYPE_SHIFT & NVME_RW_DTYPE_MASK;

	if (!limits->handles || !directive)
		return NVME_SUCCESS;
	req->placement = (uint16_t)(sqe->cdw13 >> NVME_RW_DSPEC_SHIFT);
	return directive == NVME_DIRECTIVE_PLACEMENT ? NVME_SUCCESS : BAD_FIELD;
}

/* A durable write ends once it is on flash: no buffer outlasts a power cut. */
static uint16_t decode_write_flags(const struct io_limits *limits, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	bool asked = sqe->cdw3 & NVME_RW_DURABLE, all = limits->plp_mode == HZ_PLP_FULL || !limits->write_cache;

	req->flags = asked || all || (sqe->cdw12 & NVME_RW_FUA) ? FTL_FUA : 0;
	return asked && limits->plp_mode == HZ_PLP_NONE ? BAD_FIELD : decode_placement(limits, sqe, req);
}

static uint16_t decode_write(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	uint16_t status = decode_write_flags(limits, sqe, req);

	req->op = sqe->cdw3 & NVME_RW_IN_PLACE ? FTL_UPDATE : FTL_WRITE;
	if (req->op == FTL_UPDATE && !limits->in_place)
		status = BAD_FIELD;
	if (!status)
		status = decode_range(limits, sqe, req);
	return status ? status : decode_data(limits, sqe, pages, req);
}

/* The start need not be checked against the count: the sectors go to the zone's write pointer. */
static uint16_t decode_append(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	uint16_t status = decode_write_flags(limits, sqe, req);

	req->op = FTL_APPEND;
	req->lba = sqe_lba(sqe);
	req->sectors = (sqe->cdw12 & 0xffff) + 1;
	if (req->lba >= limits->namespace_sectors)
		return NVME_LBA_OUT_OF_RANGE | NVME_DNR;
	return status ? status : decode_data(limits, sqe, pages, req);
}

static uint16_t decode_write_zeroes(const struct io_limits *limits, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	uint16_t status = decode_write_flags(limits, sqe, req);

	req->op = FTL_WRITE_ZEROES;
	req->flags |= sqe->cdw12 & NVME_RW_DEAC ? FTL_FREES : 0;
	return status ? status : decode_range(limits, sqe, req);
}

static uint16_t decode_write_uncorrectable(const struct io_limits *limits, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	uint16_t status = decode_placement(limits, sqe, req);

	req->op = FTL_WRITE_UNCORRECTABLE;
	req->flags = limits->plp_mode == HZ_PLP_FULL || !limits->write_cache ? FTL_FUA : 0;
	return status ? status : decode_range(limits, sqe, req);
}

/* Without AD all attributes are hints, and there is nothing to do. A disabled cache has no volatile deallocations either. */
static uint16_t decode_dataset(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	req->op = FTL_DEALLOCATE;
	req->sectors = sqe->cdw11 & NVME_DSM_DEALLOCATE ? (sqe->cdw10 & 0xff) + 1 : 0;
	req->flags = limits->plp_mode == HZ_PLP_FULL || !limits->write_cache ? FTL_FUA : 0;
	if (!req->sectors)
		return NVME_SUCCESS;
	return prp_parse(&limits->bus, sqe->prp1, sqe->prp2, req->sectors * (uint32_t)sizeof(struct nvme_dsm_range), pages, &req->sgl);
}

static uint16_t decode_handles_status(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	uint64_t bytes = ((uint64_t)sqe->cdw11 + 1) * 4;
	uint32_t operation = sqe->cdw10 & 0xff;

	req->op = FTL_PLACEMENT_STATUS;
	req->lba = 0;
	if (operation > NVME_IO_MGMT_HANDLES || (operation && bytes > MAX_REPORT_BYTES))
		return BAD_FIELD;
	return operation ? prp_parse(&limits->bus, sqe->prp1, sqe->prp2, (uint32_t)bytes, pages, &req->sgl) : NVME_SUCCESS;
}

/* Identifiers are in a list, read by the FTL. */
static uint16_t decode_handles_update(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	uint32_t operation = sqe->cdw10 & 0xff;

	req->op = FTL_PLACEMENT_UPDATE;
	req->lba = 0;
	req->sectors = operation ? (sqe->cdw10 >> NVME_IO_MGMT_FIELD_SHIFT) + 1 : 0;
	if (operation > NVME_IO_MGMT_HANDLES || req->sectors > limits->handles)
		return BAD_FIELD;
	return operation ? prp_parse(&limits->bus, sqe->prp1, sqe->prp2, req->sectors * 2, pages, &req->sgl) : NVME_SUCCESS;
}

/* Its length, and whether it exists, are in the list, read by the FTL. */
static uint16_t decode_copy(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	uint16_t status = decode_write_flags(limits, sqe, req);
	bool appends = sqe->cdw3 & NVME_COPY_APPEND;

	req->op = appends ? FTL_COPY_APPEND : FTL_COPY;
	req->lba = sqe_lba(sqe);
	req->sectors = (sqe->cdw12 & 0xff) + 1;
	if (status || (appends && !limits->zoned) || sqe->cdw12 >> NVME_COPY_FORMAT_SHIFT & 0xf)
		return BAD_FIELD;
	if (req->lba >= limits->namespace_sectors)
		return NVME_LBA_OUT_OF_RANGE | NVME_DNR;
	if (req->sectors > HZ_COPY_RANGES)
		return NVME_SIZE_LIMIT | NVME_DNR;
	return prp_parse(&limits->bus, sqe->prp1, sqe->prp2, req->sectors * (uint32_t)sizeof(struct nvme_copy_range), pages, &req->sgl);
}

/* Open with a random write area, and Flush Explicit ZRWA, name one zone. */
static uint16_t decode_window_send(const struct io_limits *limits, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	bool commits = (sqe->cdw13 & 0xff) == NVME_ZSA_COMMIT;

	if (!limits->zrwa)
		return NVME_INVALID_ZONE_OP | NVME_DNR;
	if (sqe->cdw13 & ZONE_ALL)
		return BAD_FIELD;
	req->op = commits ? FTL_ZONE_COMMIT : FTL_ZONE_OPEN;
	req->flags = commits ? 0 : FTL_ZRWA;
	req->lba = sqe_lba(sqe);
	return req->lba < limits->namespace_sectors ? NVME_SUCCESS : NVME_LBA_OUT_OF_RANGE | NVME_DNR;
}

static uint16_t decode_zone_send(const struct io_limits *limits, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	static const uint8_t op[] = {
		[NVME_ZSA_CLOSE] = FTL_ZONE_CLOSE, [NVME_ZSA_FINISH] = FTL_ZONE_FINISH,   [NVME_ZSA_OPEN] = FTL_ZONE_OPEN,
		[NVME_ZSA_RESET] = FTL_ZONE_RESET, [NVME_ZSA_OFFLINE] = FTL_ZONE_OFFLINE,
	};
	uint32_t action = sqe->cdw13 & 0xff;
	bool all = sqe->cdw13 & ZONE_ALL;

	if (action == NVME_ZSA_COMMIT || (action == NVME_ZSA_OPEN && sqe->cdw13 & ZONE_ZRWA))
		return decode_window_send(limits, sqe, req);
	/* Set Zone Descriptor Extension is refused too: the extension has no bytes (ZDES = 0). */
	if (action < NVME_ZSA_CLOSE || action > NVME_ZSA_OFFLINE)
		return BAD_FIELD;
	req->op = op[action];
	req->flags = all ? FTL_ALL_ZONES : 0;
	req->lba = all ? 0 : sqe_lba(sqe);
	if (req->lba >= limits->namespace_sectors)
		return NVME_LBA_OUT_OF_RANGE | NVME_DNR;
	return NVME_SUCCESS;
}

static uint16_t decode_zone_receive(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	uint32_t action = sqe->cdw13 & 0xff, filter = sqe->cdw13 >> 8 & 0xff;
	uint64_t bytes = ((uint64_t)sqe->cdw12 + 1) * 4;

	req->op = FTL_ZONE_REPORT;
	req->flags = sqe->cdw13 & ZONE_PARTIAL ? FTL_PARTIAL_REPORT : 0;
	req->report_filter = (uint8_t)filter;
	req->lba = sqe_lba(sqe);
	if (req->lba >= limits->namespace_sectors)
		return NVME_LBA_OUT_OF_RANGE | NVME_DNR;
	/* The extended report is refused: without descriptor extensions it has nothing to extend. */
	if (action != NVME_ZRA_REPORT || bytes > MAX_REPORT_BYTES)
		return BAD_FIELD;
	if (filter > NVME_ZRASF_OFFLINE && filter != NVME_ZRASF_ATTRIBUTES)
		return BAD_FIELD;
	return prp_parse(&limits->bus, sqe->prp1, sqe->prp2, (uint32_t)bytes, pages, &req->sgl);
}

static bool known_opcode(const struct io_limits *limits, uint8_t opcode)
{
	switch (opcode) {
	case NVME_IO_FLUSH:
	case NVME_IO_WRITE:
	case NVME_IO_READ:
	case NVME_IO_COMPARE:
	case NVME_IO_VERIFY:
	case NVME_IO_DATASET_MANAGEMENT:
	case NVME_IO_WRITE_UNCORRECTABLE:
	case NVME_IO_WRITE_ZEROES: return true;
	case NVME_IO_COPY: return limits->copies;
	case NVME_IO_MGMT_RECEIVE:
	case NVME_IO_MGMT_SEND: return limits->handles;
	case NVME_IO_ZONE_MGMT_SEND:
	case NVME_IO_ZONE_MGMT_RECV:
	case NVME_IO_ZONE_APPEND: return limits->zoned;
	default: return false;
	}
}

/* Opcode before namespace: all namespaces have the only command set, so an opcode outside it is unknown for every namespace.
 * Only Flush may name all of them. */
static uint16_t check_common(const struct io_limits *limits, const struct nvme_sqe *sqe)
{
	if (!known_opcode(limits, sqe->opcode))
		return NVME_INVALID_OPCODE | NVME_DNR;
	if (sqe->flags & (NVME_SQE_FUSE_MASK | NVME_SQE_PSDT_MASK))
		return BAD_FIELD;
	if (sqe->nsid - 1 == limits->number)
		return limits->inactive ? BAD_FIELD : NVME_SUCCESS;
	return sqe->nsid == NVME_NSID_ALL && sqe->opcode == NVME_IO_FLUSH ? NVME_SUCCESS : NVME_INVALID_NAMESPACE | NVME_DNR;
}

uint16_t io_decode(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req)
{
	uint16_t status = check_common(limits, sqe);

	if (status)
		return status;
	req->flags = 0;
	req->placement = 0;
	req->namespace_sectors = limits->namespace_sectors;
	req->protect = req->source_checks = 0;
	req->sgl.bytes = 0;
	switch (sqe->opcode) {
	case NVME_IO_READ:
	case NVME_IO_COMPARE: return decode_read(limits, sqe, pages, req);
	case NVME_IO_VERIFY: return decode_verify(limits, sqe, req);
	case NVME_IO_WRITE: return decode_write(limits, sqe, pages, req);
	case NVME_IO_ZONE_APPEND: return decode_append(limits, sqe, pages, req);
	case NVME_IO_WRITE_ZEROES: return decode_write_zeroes(limits, sqe, req);
	case NVME_IO_WRITE_UNCORRECTABLE: return decode_write_uncorrectable(limits, sqe, req);
	case NVME_IO_DATASET_MANAGEMENT: return decode_dataset(limits, sqe, pages, req);
	case NVME_IO_COPY: return decode_copy(limits, sqe, pages, req);
	case NVME_IO_MGMT_RECEIVE: return decode_handles_status(limits, sqe, pages, req);
	case NVME_IO_MGMT_SEND: return decode_handles_update(limits, sqe, pages, req);
	case NVME_IO_ZONE_MGMT_SEND: return decode_zone_send(limits, sqe, req);
	case NVME_IO_ZONE_MGMT_RECV: return decode_zone_receive(limits, sqe, pages, req);
	default: req->op = FTL_FLUSH; return NVME_SUCCESS;
	}
}

/* Protection information type 1 (NVM Command Set 1.0 section 5.2; appends: ZNS 1.1 section 5.3). */

enum { BAD_PROTECTION = NVME_INVALID_PROTECTION | NVME_DNR };

static bool is_io(const struct ftl_request *req) { return req->op <= FTL_WRITE_ZEROES; }

static bool brings_data(const struct ftl_request *req)
{
	return req->op == FTL_WRITE || req->op == FTL_APPEND || req->op == FTL_UPDATE || req->op == FTL_COMPARE;
}

/* Type 1 ties reference tags to LBAs: if they are checked, just these must be expected. Before an append they are unknown, so the
 * controller has to count on from the zone's start. */
static bool is_legal(const struct nvme_sqe *sqe, const struct ftl_request *req)
{
	bool acts = sqe->cdw12 & NVME_RW_PRACT;

	if (req->op == FTL_APPEND && !(sqe->cdw12 & NVME_RW_PIREMAP))
		return false;
	if ((req->op == FTL_COMPARE || req->op == FTL_VERIFY) && acts)
		return false;
	if (req->op == FTL_WRITE_ZEROES && req->protect & HZ_CHECK_ALL)
		return false;
	return !(req->protect & HZ_CHECK_REFERENCE) || sqe->cdw14 == (uint32_t)req->lba;
}

/* One contiguous buffer with all tuples. */
static uint16_t find_tuples(const struct host_bus *bus, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	if (sqe->mptr & 3)
		return NVME_INVALID_FIELD | NVME_DNR;
	if (!host_bus_holds(bus, sqe->mptr, req->sectors * HZ_TUPLE_BYTES))
		return NVME_DATA_TRANSFER_ERROR;
	req->tuples = bus->base + sqe->mptr;
	return NVME_SUCCESS;
}

static uint16_t check_received(const struct ftl_request *req, uint32_t index)
{
	struct hz_tuple expected = req->expected;

	if (req->protect & HZ_CHECK_GUARD)
		expected.guard = sgl_guard(&req->sgl, index * HZ_SECTOR_BYTES);
	expected.reference += index;
	return hz_tuple_check(hz_tuple_load(req->tuples + index * HZ_TUPLE_BYTES), expected, req->protect, req->tag_mask);
}

/* As the data cross the link: the first failing sector ends it. */
static uint16_t receive(const struct ftl_request *req)
{
	uint16_t status = NVME_SUCCESS;

	clock_freeze();
	for (uint32_t i = 0; i < req->sectors && !status; i++)
		status = check_received(req, i);
	clock_thaw();
	return status;
}

/* Tuples go along with the data, or new ones are made: one of the two for source and destination. Those of an append cannot go along,
 * since their tags are unknown. */
static uint16_t protect_copy(const struct nvme_sqe *sqe, struct ftl_request *req)
{
	bool acts = sqe->cdw12 & NVME_RW_PRACT;

	if (acts != !!(sqe->cdw12 & NVME_COPY_SOURCE_PRACT))
		return NVME_INVALID_FIELD | NVME_DNR;
	req->source_checks = (uint8_t)(sqe->cdw12 >> NVME_COPY_SOURCE_PRCHK_SHIFT & HZ_CHECK_ALL);
	req->protect |= acts ? 0 : FTL_HOST_TUPLES;
	if (req->op == FTL_COPY_APPEND && !acts)
		return BAD_PROTECTION;
	return req->protect & HZ_CHECK_REFERENCE && sqe->cdw14 != (uint32_t)req->lba ? BAD_PROTECTION : NVME_SUCCESS;
}

static bool is_copy(const struct ftl_request *req) { return req->op == FTL_COPY || req->op == FTL_COPY_APPEND; }

uint16_t io_protect(const struct host_bus *bus, const struct nvme_sqe *sqe, struct ftl_request *req)
{
	bool acts = sqe->cdw12 & NVME_RW_PRACT;
	uint16_t status;

	if (!is_io(req) && !is_copy(req))
		return NVME_SUCCESS;
	req->protect = (uint8_t)(sqe->cdw12 >> NVME_RW_PRCHK_SHIFT & HZ_CHECK_ALL);
	req->expected = (struct hz_tuple){ 0, (uint16_t)sqe->cdw15, sqe->cdw14 };
	req->tag_mask = (uint16_t)(sqe->cdw15 >> 16);
	req->tuples = NULL;
	if (is_copy(req))
		return protect_copy(sqe, req);
	if (!is_legal(sqe, req))
		return BAD_PROTECTION;
	if (acts || req->op == FTL_VERIFY)
		return NVME_SUCCESS;
	req->protect |= FTL_HOST_TUPLES;
	if (req->op == FTL_WRITE_ZEROES)
		return NVME_SUCCESS;
	status = find_tuples(bus, sqe, req);
	return !status && brings_data(req) && req->protect & HZ_CHECK_ALL ? receive(req) : status;
}
