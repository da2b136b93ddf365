/* NVMe wire structures and codes that both sides use (NVM Express Base 2.0, NVM Command Set 1.0, Zoned Namespace Command Set 1.1).
 *
 * Own packed definitions, since firmware cannot include libnvme; a host test compares sizes, offsets and values with libnvme. */
#ifndef HZ_PROTOCOL_NVME_H
#define HZ_PROTOCOL_NVME_H

#include "base.h"

struct nvme_sqe {
	uint8_t opcode;
	uint8_t flags;        /* FUSE 1:0, PSDT 7:6 (0 = PRP) */
	uint16_t cid;
	uint32_t nsid;
	uint32_t cdw2, cdw3;
	uint64_t mptr, prp1, prp2;
	uint32_t cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
};
HZ_ASSERT_SIZE(struct nvme_sqe, 64);

struct nvme_cqe {
	uint32_t dw0, dw1;    /* zone append: assigned LBA (ALBA) */
	uint16_t sq_head, sq_id, cid;
	uint16_t status;      /* bit 0 phase, 8:1 SC, 11:9 SCT, 13:12 CRD, 14 M, 15 DNR */
};
HZ_ASSERT_SIZE(struct nvme_cqe, 16);

enum nvme_admin_opcode {
	NVME_ADMIN_DELETE_SQ = 0x00, NVME_ADMIN_CREATE_SQ = 0x01, NVME_ADMIN_GET_LOG_PAGE = 0x02, NVME_ADMIN_DELETE_CQ = 0x04,
	NVME_ADMIN_CREATE_CQ = 0x05, NVME_ADMIN_IDENTIFY = 0x06, NVME_ADMIN_ABORT = 0x08, NVME_ADMIN_SET_FEATURES = 0x09,
	NVME_ADMIN_GET_FEATURES = 0x0a, NVME_ADMIN_ASYNC_EVENT = 0x0c, NVME_ADMIN_DBBUF = 0x7c,
	NVME_ADMIN_HZ_RESET_STATS = 0xc0, /* vendor: restart every statistics account; completes when all harts have done so */
};
enum nvme_io_opcode {
	NVME_IO_FLUSH = 0x00, NVME_IO_WRITE = 0x01, NVME_IO_READ = 0x02, NVME_IO_WRITE_ZEROES = 0x08,
	NVME_IO_ZONE_MGMT_SEND = 0x79, NVME_IO_ZONE_MGMT_RECV = 0x7a, NVME_IO_ZONE_APPEND = 0x7d,
};
enum nvme_zone_send_action { /* ZNS 3.4.3, CDW13 7:0 */
	NVME_ZSA_CLOSE = 1, NVME_ZSA_FINISH = 2, NVME_ZSA_OPEN = 3, NVME_ZSA_RESET = 4, NVME_ZSA_OFFLINE = 5, NVME_ZSA_SET_EXTENSION = 0x10,
};
enum nvme_zone_state { /* ZNS zone descriptor ZS, value in bits 7:4 */
	NVME_ZS_EMPTY = 1, NVME_ZS_IMPLICIT_OPEN = 2, NVME_ZS_EXPLICIT_OPEN = 3, NVME_ZS_CLOSED = 4,
	NVME_ZS_READ_ONLY = 0xd, NVME_ZS_FULL = 0xe, NVME_ZS_OFFLINE = 0xf,
};
enum nvme_csi { NVME_CSI_NVM = 0, NVME_CSI_ZNS = 2 };

/* Status codes as SCT << 8 | SC. Or with NVME_DNR where a retry cannot help. */
enum nvme_status {
	NVME_SUCCESS = 0x000,
	NVME_INVALID_OPCODE = 0x001, NVME_INVALID_FIELD = 0x002, NVME_CID_CONFLICT = 0x003, NVME_DATA_TRANSFER_ERROR = 0x004,
	NVME_INTERNAL_ERROR = 0x006, NVME_ABORT_REQUESTED = 0x007, NVME_ABORT_SQ_DELETED = 0x008, NVME_INVALID_NAMESPACE = 0x00b,
	NVME_COMMAND_SEQUENCE = 0x00c, NVME_PRP_OFFSET_INVALID = 0x013, NVME_LBA_OUT_OF_RANGE = 0x080, NVME_CAPACITY_EXCEEDED = 0x081,
	NVME_NAMESPACE_NOT_READY = 0x082,
	NVME_CQ_INVALID = 0x100, NVME_QID_INVALID = 0x101, NVME_QUEUE_SIZE = 0x102, NVME_ABORT_LIMIT = 0x103,
	NVME_ASYNC_LIMIT = 0x105, NVME_INTERRUPT_VECTOR = 0x108, NVME_LOG_PAGE_INVALID = 0x109, NVME_QUEUE_DELETION = 0x10c,
	NVME_FEATURE_NOT_SAVEABLE = 0x10d, NVME_FEATURE_NOT_CHANGEABLE = 0x10e, NVME_IOCS_NOT_SUPPORTED = 0x129,
	NVME_ZONE_BOUNDARY = 0x1b8, NVME_ZONE_FULL = 0x1b9, NVME_ZONE_READ_ONLY = 0x1ba, NVME_ZONE_OFFLINE = 0x1bb,
	NVME_ZONE_INVALID_WRITE = 0x1bc, NVME_TOO_MANY_ACTIVE = 0x1bd, NVME_TOO_MANY_OPEN = 0x1be, NVME_ZONE_INVALID_TRANSITION = 0x1bf,
	NVME_WRITE_FAULT = 0x280, NVME_UNRECOVERED_READ = 0x281,
	NVME_DNR = 0x4000,
};

struct nvme_zone_descriptor {
	uint8_t type;         /* 1 conventional (vendor view), 2 sequential write required */
	uint8_t state;        /* enum nvme_zone_state << 4 */
	uint8_t attributes, attributes_info;
	uint32_t reserved0;
	uint64_t capacity, start, write_pointer;   /* write_pointer: all ones where it is not valid (FULL, READ ONLY, OFFLINE) */
	uint64_t reserved1[4];
};
HZ_ASSERT_SIZE(struct nvme_zone_descriptor, 64);

struct nvme_zone_report { uint64_t zones; uint64_t reserved[7]; struct nvme_zone_descriptor zone[]; };

#endif
