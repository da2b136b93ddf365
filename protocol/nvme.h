/* NVMe wire structures and codes for both sides (NVM Express Base 2.0, NVM Command Set 1.0, Zoned Namespace Command Set 1.1).
 *
 * Own packed definitions, since firmware cannot include libnvme; a host test compares sizes, offsets and values with libnvme. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_NVME_H
#define HZ_PROTOCOL_NVME_H

#include "base.h"

struct nvme_sqe {
	uint8_t opcode;
	uint8_t flags; /* FUSE 1:0, PSDT 7:6 (0 = PRP) */
	uint16_t cid;
	uint32_t nsid;
	uint32_t cdw2, cdw3;
	uint64_t mptr, prp1, prp2;
	uint32_t cdw10, cdw11, cdw12, cdw13, cdw14, cdw15;
};
HZ_ASSERT_SIZE(struct nvme_sqe, 64);

struct nvme_cqe {
	uint32_t dw0, dw1; /* zone append: assigned LBA (ALBA) */
	uint16_t sq_head, sq_id, cid;
	uint16_t status; /* bit 0 phase, 8:1 SC, 11:9 SCT, 13:12 CRD, 14 M, 15 DNR */
};
HZ_ASSERT_SIZE(struct nvme_cqe, 16);

enum nvme_admin_opcode {
	NVME_ADMIN_DELETE_SQ = 0x00,
	NVME_ADMIN_CREATE_SQ = 0x01,
	NVME_ADMIN_GET_LOG_PAGE = 0x02,
	NVME_ADMIN_DELETE_CQ = 0x04,
	NVME_ADMIN_CREATE_CQ = 0x05,
	NVME_ADMIN_IDENTIFY = 0x06,
	NVME_ADMIN_ABORT = 0x08,
	NVME_ADMIN_SET_FEATURES = 0x09,
	NVME_ADMIN_GET_FEATURES = 0x0a,
	NVME_ADMIN_ASYNC_EVENT = 0x0c,
	NVME_ADMIN_NAMESPACE_MANAGEMENT = 0x0d,
	NVME_ADMIN_DEVICE_SELF_TEST = 0x14,
	NVME_ADMIN_NAMESPACE_ATTACHMENT = 0x15,
	NVME_ADMIN_DIRECTIVE_SEND = 0x19,
	NVME_ADMIN_DIRECTIVE_RECEIVE = 0x1a,
	NVME_ADMIN_DBBUF = 0x7c,
	NVME_ADMIN_FORMAT_NVM = 0x80,
	NVME_ADMIN_SANITIZE = 0x84,
	NVME_ADMIN_HZ_RESET_STATS = 0xc0, /* vendor: restart every statistics account; completes when all harts have done so */
};
enum nvme_io_opcode {
	NVME_IO_FLUSH = 0x00,
	NVME_IO_WRITE = 0x01,
	NVME_IO_READ = 0x02,
	NVME_IO_WRITE_UNCORRECTABLE = 0x04,
	NVME_IO_COMPARE = 0x05,
	NVME_IO_WRITE_ZEROES = 0x08,
	NVME_IO_DATASET_MANAGEMENT = 0x09,
	NVME_IO_VERIFY = 0x0c,
	NVME_IO_MGMT_RECEIVE = 0x12,
	NVME_IO_COPY = 0x19,
	NVME_IO_MGMT_SEND = 0x1d,
	NVME_IO_ZONE_MGMT_SEND = 0x79,
	NVME_IO_ZONE_MGMT_RECV = 0x7a,
	NVME_IO_ZONE_APPEND = 0x7d,
};
/* ZNS 3.4.3, CDW13 7:0. */
enum nvme_zone_send_action {
	NVME_ZSA_CLOSE = 1,
	NVME_ZSA_FINISH = 2,
	NVME_ZSA_OPEN = 3,
	NVME_ZSA_RESET = 4,
	NVME_ZSA_OFFLINE = 5,
	NVME_ZSA_SET_EXTENSION = 0x10,
	NVME_ZSA_COMMIT = 0x11, /* Flush Explicit ZRWA: SLBA is the last one */
};
/* ZNS 1.1 knows type 2 only. Conventional zones are reported as ZBC and ZAC do: type 1, state 0, no valid write pointer. */
enum nvme_zone_type { NVME_ZT_CONVENTIONAL = 1, NVME_ZT_SEQUENTIAL = 2 };
/* ZNS zone descriptor ZS, value in bits 7:4. */
enum nvme_zone_state {
	NVME_ZS_NOT_WP = 0, /* conventional */
	NVME_ZS_EMPTY = 1,
	NVME_ZS_IMPLICIT_OPEN = 2,
	NVME_ZS_EXPLICIT_OPEN = 3,
	NVME_ZS_CLOSED = 4,
	NVME_ZS_READ_ONLY = 0xd,
	NVME_ZS_FULL = 0xe,
	NVME_ZS_OFFLINE = 0xf,
};
enum nvme_csi { NVME_CSI_NVM = 0, NVME_CSI_ZNS = 2 };

/* Status codes as SCT << 8 | SC. Or with NVME_DNR if a retry cannot help. */
enum nvme_status {
	NVME_SUCCESS = 0x000,
	NVME_INVALID_OPCODE = 0x001,
	NVME_INVALID_FIELD = 0x002,
	NVME_CID_CONFLICT = 0x003,
	NVME_DATA_TRANSFER_ERROR = 0x004,
	NVME_INTERNAL_ERROR = 0x006,
	NVME_ABORT_REQUESTED = 0x007,
	NVME_ABORT_SQ_DELETED = 0x008,
	NVME_INVALID_NAMESPACE = 0x00b,
	NVME_COMMAND_SEQUENCE = 0x00c,
	NVME_PRP_OFFSET_INVALID = 0x013,
	NVME_SANITIZE_FAILED = 0x01c,
	NVME_SANITIZE_IN_PROGRESS = 0x01d,
	NVME_INVALID_HANDLE_LIST = 0x02a, /* of placement handles */
	NVME_INVALID_IOCS = 0x02c,
	NVME_LBA_OUT_OF_RANGE = 0x080,
	NVME_CAPACITY_EXCEEDED = 0x081,
	NVME_NAMESPACE_NOT_READY = 0x082,
	NVME_FORMAT_IN_PROGRESS = 0x084,
	NVME_CQ_INVALID = 0x100,
	NVME_QID_INVALID = 0x101,
	NVME_QUEUE_SIZE = 0x102,
	NVME_ABORT_LIMIT = 0x103,
	NVME_ASYNC_LIMIT = 0x105,
	NVME_INTERRUPT_VECTOR = 0x108,
	NVME_LOG_PAGE_INVALID = 0x109,
	NVME_INVALID_FORMAT = 0x10a,
	NVME_QUEUE_DELETION = 0x10c,
	NVME_FEATURE_NOT_SAVEABLE = 0x10d,
	NVME_FEATURE_NOT_CHANGEABLE = 0x10e,
	NVME_FEATURE_NOT_PER_NAMESPACE = 0x10f,
	NVME_NAMESPACE_CAPACITY = 0x115, /* too little capacity */
	NVME_NAMESPACE_ID_UNAVAILABLE = 0x116,
	NVME_NAMESPACE_ATTACHED = 0x118, /* … already */
	NVME_NAMESPACE_NOT_ATTACHED = 0x11a,
	NVME_THIN_PROVISIONING = 0x11b, /* … is not supported */
	NVME_CONTROLLER_LIST = 0x11c,   /* … is invalid */
	NVME_SELF_TEST_RUNS = 0x11d,
	NVME_IOCS_NOT_SUPPORTED = 0x129,
	NVME_INVALID_PROTECTION = 0x181,
	NVME_SIZE_LIMIT = 0x183,
	NVME_INVALID_ZONE_OP = 0x1b6,
	NVME_ZRWA_UNAVAILABLE = 0x1b7, /* as many zones as may be have a random write area */
	NVME_ZONE_BOUNDARY = 0x1b8,
	NVME_ZONE_FULL = 0x1b9,
	NVME_ZONE_READ_ONLY = 0x1ba,
	NVME_ZONE_OFFLINE = 0x1bb,
	NVME_ZONE_INVALID_WRITE = 0x1bc,
	NVME_TOO_MANY_ACTIVE = 0x1bd,
	NVME_TOO_MANY_OPEN = 0x1be,
	NVME_ZONE_INVALID_TRANSITION = 0x1bf,
	NVME_WRITE_FAULT = 0x280,
	NVME_UNRECOVERED_READ = 0x281,
	NVME_GUARD_CHECK = 0x282,
	NVME_APPLICATION_CHECK = 0x283,
	NVME_REFERENCE_CHECK = 0x284,
	NVME_COMPARE_FAILURE = 0x285,
	NVME_HZ_IN_PLACE_BUDGET = 0x7c0, /* vendor: no more sectors may be written in place before some are folded or their zones reset */
	NVME_DNR = 0x4000,
	NVME_HZ_MARKED = NVME_UNRECOVERED_READ |
			 NVME_DNR, /* … because of a Write Uncorrectable; other unrecovered reads may be tried again */
	NVME_SCT_MEDIA = 0x200,    /* the status code type of media and data integrity errors, among … */
	NVME_SCT_MASK = 0x700,
};

struct nvme_zone_descriptor {
	uint8_t type;  /* enum nvme_zone_type */
	uint8_t state; /* enum nvme_zone_state << 4 */
	uint8_t attributes, attributes_info;
	uint32_t reserved0;
	uint64_t capacity, start, write_pointer; /* write_pointer: all ones if not valid (FULL, READ ONLY, OFFLINE) */
	uint64_t reserved1[4];
};
HZ_ASSERT_SIZE(struct nvme_zone_descriptor, 64);

/* Zone Management Receive: header, then descriptors. */
struct nvme_zone_report {
	uint64_t zones;
	uint64_t reserved[7];
	struct nvme_zone_descriptor zone[];
};
HZ_ASSERT_SIZE(struct nvme_zone_report, 64);

enum nvme_zone_receive_action { NVME_ZRA_REPORT = 0, NVME_ZRA_EXTENDED_REPORT = 1 }; /* ZNS 3.4.2, CDW13 7:0 */
/* ZRASF, CDW13 15:8. */
enum nvme_zone_report_filter {
	NVME_ZRASF_ALL = 0,
	NVME_ZRASF_EMPTY = 1,
	NVME_ZRASF_IMPLICIT_OPEN = 2,
	NVME_ZRASF_EXPLICIT_OPEN = 3,
	NVME_ZRASF_CLOSED = 4,
	NVME_ZRASF_FULL = 5,
	NVME_ZRASF_READ_ONLY = 6,
	NVME_ZRASF_OFFLINE = 7,
	NVME_ZRASF_ATTRIBUTES = 9,
};

/* Fields of command dwords shared by several commands. */
#define NVME_NSID_ALL UINT32_MAX
enum { NVME_SQE_FUSE_MASK = 0x03, NVME_SQE_PSDT_MASK = 0xc0 };
/* Create I/O queue, CDW11. */
enum nvme_queue_flags {
	NVME_QUEUE_CONTIGUOUS = 1,
	NVME_QUEUE_INTERRUPT = 2,
};
/* Create I/O Submission Queue: QPRIO, CDW11 bits 2:1; it counts with weighted round robin. */
enum nvme_queue_priority {
	NVME_QPRIO_URGENT = 0,
	NVME_QPRIO_HIGH = 1,
	NVME_QPRIO_MEDIUM = 2,
	NVME_QPRIO_LOW = 3,
	NVME_QPRIOS,
};
enum { NVME_QPRIO_SHIFT = 1 };
#define NVME_RW_FUA (1u << 30) /* CDW12 of Read, Write, Append */
/* Protection information, also CDW12; CDW14 has the reference tag, CDW15 the application tag and, above it, its mask. */
#define NVME_RW_PRACT (1u << 29)   /* the controller makes tuples or strips them; else they are at MPTR */
#define NVME_RW_PIREMAP (1u << 25) /* append: reference tags count from the zone's start */
#define NVME_RW_DEAC (1u << 25)    /* write zeroes: deallocate if possible */
enum { NVME_RW_PRCHK_SHIFT = 26 };
#define NVME_RW_DURABLE 1u  /* vendor: CDW3 of Write, Append, Copy, Write Zeroes: durable at its end, on a device that protects writes */
#define NVME_RW_IN_PLACE 4u /* vendor: CDW3 of Write: may be before the write pointer of a sequential zone, if the device has room for it */

/* Dataset Management. */
#define NVME_DSM_DEALLOCATE 4u /* CDW11: AD; the other bits are hints */
enum { NVME_DSM_RANGES = 256 };
struct nvme_dsm_range {
	uint32_t cattr, nlb; /* nlb: not 0's based */
	uint64_t slba;
};
HZ_ASSERT_SIZE(struct nvme_dsm_range, 16);

/* Copy: CDW12 has the number of ranges, the format of their descriptors, and protection information of the sources; that of the
 * destination is in the place of a Write's. */
enum { NVME_COPY_FORMAT_SHIFT = 8, NVME_COPY_SOURCE_PRCHK_SHIFT = 12 };
#define NVME_COPY_SOURCE_PRACT (1u << 15)
#define NVME_COPY_APPEND 2u /* vendor: CDW3: SDLBA is a zone's start, and the data go to its write pointer; the LBA is in DW0 and DW1 */
struct nvme_copy_range {    /* format 0 */
	uint64_t reserved0, slba;
	uint16_t nlb, reserved18[3]; /* nlb: 0's based */
	uint32_t eilbrt;             /* expected reference tag of the first sector */
	uint16_t elbat, elbatm;      /* expected application tag, its mask */
};
HZ_ASSERT_SIZE(struct nvme_copy_range, 32);

/* Format NVM, CDW10: first bit of each field, and its values. */
enum nvme_format_field {
	NVME_FORMAT_LBAFL = 0, /* 4 bits */
	NVME_FORMAT_MSET = 4,
	NVME_FORMAT_PI = 5,     /* 3 bits: enum nvme_protection_setting, in the last bytes of the metadata … */
	NVME_FORMAT_PIL = 8,    /* … or in the first */
	NVME_FORMAT_SES = 9,    /* 3 bits */
	NVME_FORMAT_LBAFU = 12, /* 2 bits */
};
/* Sanitize (base spec 5.24): CDW10. */
enum nvme_sanitize_field { NVME_SANITIZE_ACTION = 0 /* 3 bits */, NVME_SANITIZE_AUSE = 3, NVME_SANITIZE_NDAS = 9 };
enum nvme_sanitize_action {
	NVME_SANITIZE_EXIT_FAILURE = 1,
	NVME_SANITIZE_BLOCK_ERASE = 2,
	NVME_SANITIZE_OVERWRITE = 3,
	NVME_SANITIZE_CRYPTO_ERASE = 4,
};
/* NDI: blocks are deallocated, always. UNMODIFIED: nothing is written to the media behind the erases. */
enum nvme_sanitize_capability { NVME_SANICAP_BLOCK_ERASE = 0x02, NVME_SANICAP_NDI = 1 << 29, NVME_SANICAP_UNMODIFIED = 1 << 30 };
enum nvme_format_erase { NVME_FORMAT_NO_ERASE = 0, NVME_FORMAT_USER_DATA = 1, NVME_FORMAT_CRYPTO = 2 };

/* Controller registers, byte offsets in BAR0 (base spec 3.1.3). Doorbells follow at 0x1000, stride 4 (CAP.DSTRD = 0). */
enum nvme_register {
	NVME_REG_CAP = 0x00,
	NVME_REG_VS = 0x08,
	NVME_REG_INTMS = 0x0c,
	NVME_REG_INTMC = 0x10,
	NVME_REG_CC = 0x14,
	NVME_REG_CSTS = 0x1c,
	NVME_REG_NSSR = 0x20,
	NVME_REG_AQA = 0x24,
	NVME_REG_ASQ = 0x28,
	NVME_REG_ACQ = 0x30,
	NVME_REG_CMBLOC = 0x38,
	NVME_REG_CMBSZ = 0x3c,
	NVME_REG_CRTO = 0x68,
	NVME_REG_DOORBELLS = 0x1000,
};
enum { NVME_VERSION_2_0 = 0x00020000 };

/* CAP: first bit of each field. */
enum nvme_cap {
	NVME_CAP_MQES = 0,
	NVME_CAP_CQR = 16,
	NVME_CAP_AMS = 17,
	NVME_CAP_TO = 24,
	NVME_CAP_DSTRD = 32,
	NVME_CAP_CSS = 37,
	NVME_CAP_MPSMIN = 48,
	NVME_CAP_MPSMAX = 52,
	NVME_CAP_CRMS = 59,
};
enum nvme_cap_ams { NVME_CAP_AMS_WEIGHTED = 0x01, NVME_CAP_AMS_VENDOR = 0x02 };
enum nvme_cap_css { NVME_CAP_CSS_NVM = 0x01, NVME_CAP_CSS_CSI = 0x40, NVME_CAP_CSS_ADMIN = 0x80 };

enum nvme_cc {
	NVME_CC_EN = 1,
	NVME_CC_CSS_SHIFT = 4,
	NVME_CC_MPS_SHIFT = 7,
	NVME_CC_AMS_SHIFT = 11,
	NVME_CC_SHN_SHIFT = 14,
	NVME_CC_IOSQES_SHIFT = 16,
	NVME_CC_IOCQES_SHIFT = 20,
};
enum nvme_cc_css { NVME_CC_CSS_NVM = 0, NVME_CC_CSS_CSI = 6, NVME_CC_CSS_ADMIN = 7 };
enum nvme_cc_ams { NVME_CC_AMS_ROUND_ROBIN = 0, NVME_CC_AMS_WEIGHTED = 1, NVME_CC_AMS_VENDOR = 7 };
enum nvme_cc_shn { NVME_CC_SHN_NONE = 0, NVME_CC_SHN_NORMAL = 1, NVME_CC_SHN_ABRUPT = 2 };
enum nvme_csts {
	NVME_CSTS_RDY = 1,
	NVME_CSTS_CFS = 2,
	NVME_CSTS_SHST_MASK = 0x0c,
	NVME_CSTS_SHST_OCCURRING = 0x04,
	NVME_CSTS_SHST_COMPLETE = 0x08,
};
enum nvme_aqa { NVME_AQA_ASQS_MASK = 0x0fff, NVME_AQA_ACQS_SHIFT = 16 }; /* both 0's based */

enum nvme_feature {
	NVME_FEAT_ARBITRATION = 0x01,
	NVME_FEAT_POWER_MANAGEMENT = 0x02,
	NVME_FEAT_TEMPERATURE_THRESHOLD = 0x04,
	NVME_FEAT_ERROR_RECOVERY = 0x05,
	NVME_FEAT_VOLATILE_WRITE_CACHE = 0x06,
	NVME_FEAT_NUMBER_OF_QUEUES = 0x07,
	NVME_FEAT_INTERRUPT_COALESCING = 0x08,
	NVME_FEAT_INTERRUPT_VECTOR = 0x09,
	NVME_FEAT_WRITE_ATOMICITY = 0x0a,
	NVME_FEAT_ASYNC_EVENT = 0x0b,
	NVME_FEAT_IOCS_PROFILE = 0x19,
	NVME_FEAT_FDP = 0x1d,
	NVME_FEAT_FDP_EVENTS = 0x1e,
};
enum nvme_feature_select { NVME_FEAT_CURRENT = 0, NVME_FEAT_DEFAULT = 1, NVME_FEAT_SAVED = 2, NVME_FEAT_CAPABILITIES = 3 };
#define NVME_FEAT_SAVE (1u << 31) /* CDW10 of Set Features: SV */
enum nvme_feature_capability { NVME_FEAT_CAP_SAVEABLE = 1, NVME_FEAT_CAP_PER_NAMESPACE = 2, NVME_FEAT_CAP_CHANGEABLE = 4 };

/* Asynchronous event completion DW0: type | information << 8 | log page << 16. DW1: of a notice about a namespace, its NSID. */
enum nvme_async_type {
	NVME_AEN_ERROR = 0,
	NVME_AEN_SMART = 1,
	NVME_AEN_NOTICE = 2,
	NVME_AEN_IO = 6 /* I/O command specific */,
	NVME_AEN_TYPES
};
enum nvme_async_event {
	NVME_AEN_ERROR_INVALID_DOORBELL_REGISTER = 0,
	NVME_AEN_ERROR_INVALID_DOORBELL_VALUE = 1,
	NVME_AEN_SMART_RELIABILITY = 0,
	NVME_AEN_SMART_SPARE = 2,
	NVME_AEN_NOTICE_NAMESPACES = 0, /* (Attached) Namespace Attribute Changed */
	NVME_AEN_NOTICE_ZONES = 0xef,   /* Zone Descriptor Changed */
	NVME_AEN_IO_SANITIZED = 1,      /* Sanitize Operation Completed */
};
/* Notices: OAES of Identify Controller, and enabled by feature 0Bh. */
enum nvme_notice { NVME_NOTICE_NAMESPACES = 1 << 8, NVME_NOTICE_ZONES = 1 << 27 };
/* Critical warning of the SMART log; in feature 0Bh the bits that raise an event when set. */
enum nvme_critical_warning { NVME_WARNING_SPARE = 1, NVME_WARNING_RELIABILITY = 4, NVME_WARNINGS = 0x3f };

enum nvme_cns {
	NVME_CNS_NAMESPACE = 0x00,
	NVME_CNS_CONTROLLER = 0x01,
	NVME_CNS_ACTIVE_NAMESPACES = 0x02,
	NVME_CNS_DESCRIPTORS = 0x03,
	NVME_CNS_NVM_SETS = 0x04,
	NVME_CNS_CSI_NAMESPACE = 0x05,
	NVME_CNS_CSI_CONTROLLER = 0x06,
	NVME_CNS_CSI_ACTIVE_NAMESPACES = 0x07,
	NVME_CNS_INDEPENDENT_NAMESPACE = 0x08,
	NVME_CNS_ALLOCATED_NAMESPACES = 0x10,
	NVME_CNS_ALLOCATED_NAMESPACE = 0x11,
	NVME_CNS_ATTACHED_CONTROLLERS = 0x12,
	NVME_CNS_CONTROLLERS = 0x13,
	NVME_CNS_CSI_ALLOCATED_NAMESPACES = 0x1a,
	NVME_CNS_CSI_ALLOCATED_NAMESPACE = 0x1b,
	NVME_CNS_COMMAND_SETS = 0x1c,
};

struct nvme_power_state {
	uint16_t mp;
	uint8_t reserved2, flags;
	uint32_t enlat, exlat;
	uint8_t rrt, rrl, rwt, rwl;
	uint16_t idlp;
	uint8_t ips, reserved19;
	uint16_t actp;
	uint8_t apws, reserved23[9];
};
HZ_ASSERT_SIZE(struct nvme_power_state, 32);

/* Base spec figure "Identify Controller Data Structure"; fields left 0 are grouped. */
struct nvme_identify_controller {
	uint16_t vid, ssvid;
	char sn[20], mn[40], fr[8]; /* ASCII, space padded, no NUL */
	uint8_t rab, ieee[3], cmic;
	uint8_t mdts; /* 2^mdts * 4 KiB */
	uint16_t cntlid;
	uint32_t ver, rtd3r, rtd3e, oaes, ctratt;
	uint16_t rrls;
	uint8_t reserved102[9], cntrltype, fguid[16];
	uint16_t crdt[3];
	uint8_t reserved134[119], nvmsr, vwci, mec;
	uint16_t oacs;
	uint8_t acl, aerl, frmw, lpa, elpe, npss, avscc, apsta;
	uint16_t wctemp, cctemp, mtfa;
	uint32_t hmpre, hmmin;
	uint8_t tnvmcap[16], unvmcap[16];
	uint8_t reserved312[4];
	uint16_t edstt; /* minutes of an extended self-test */
	uint8_t dsto, reserved319[9];
	uint32_t sanicap; /* enum nvme_sanitize_capability */
	uint8_t reserved332[6];
	uint16_t nsetidmax, endgidmax;
	uint8_t reserved342[170];
	uint8_t sqes, cqes;
	uint16_t maxcmd;
	uint32_t nn;
	uint16_t oncs, fuses;
	uint8_t fna, vwc;
	uint16_t awun, awupf;
	uint8_t icsvscc, nwpc;
	uint16_t acwu, ocfs;
	uint32_t sgls, mnan;
	uint8_t reserved544[224];
	char subnqn[256];
	uint8_t reserved1024[1024];
	struct nvme_power_state psd[32];
	uint8_t vs[1024]; /* vendor: enum nvme_hz_vs */
};
HZ_ASSERT_SIZE(struct nvme_identify_controller, 4096);
HZ_ASSERT_OFFSET(struct nvme_identify_controller, mdts, 77);
HZ_ASSERT_OFFSET(struct nvme_identify_controller, oacs, 256);
HZ_ASSERT_OFFSET(struct nvme_identify_controller, sanicap, 328);
HZ_ASSERT_OFFSET(struct nvme_identify_controller, nsetidmax, 338);
HZ_ASSERT_OFFSET(struct nvme_identify_controller, sqes, 512);
HZ_ASSERT_OFFSET(struct nvme_identify_controller, subnqn, 768);
HZ_ASSERT_OFFSET(struct nvme_identify_controller, psd, 2048);
HZ_ASSERT_OFFSET(struct nvme_identify_controller, vs, 3072);
/* Bytes of the vendor's bytes: nvme_hz_protection, nvme_hz_copy, nvme_hz_in_place. */
enum nvme_hz_vs { NVME_HZ_VS_PROTECTION = 0, NVME_HZ_VS_COPY = 1, NVME_HZ_VS_IN_PLACE = 2 };
enum nvme_hz_copy { NVME_HZ_COPY_APPENDS = 1 };         /* NVME_COPY_APPEND is honoured; else it is refused */
enum nvme_hz_protection { NVME_HZ_DURABLE_WRITES = 1 }; /* NVME_RW_DURABLE is honoured; else it is refused */
enum nvme_hz_in_place { NVME_HZ_IN_PLACE_WRITES = 1 };  /* NVME_RW_IN_PLACE is honoured; else it is refused */
enum {
	NVME_CTRATT_NVM_SETS = 0x04,
	NVME_CTRATT_ENDURANCE_GROUPS = 0x10,
	NVME_CTRATT_FDP = 1 << 19,
	NVME_OACS_FORMAT = 0x02,
	NVME_OACS_NAMESPACES = 0x08,
	NVME_OACS_SELF_TEST = 0x10,
	NVME_OACS_DIRECTIVES = 0x20,
	NVME_OACS_DBBUF = 0x100,
	NVME_ONCS_COMPARE = 0x01,
	NVME_ONCS_WRITE_UNCORRECTABLE = 0x02,
	NVME_ONCS_DATASET_MANAGEMENT = 0x04,
	NVME_ONCS_WRITE_ZEROES = 0x08,
	NVME_ONCS_SELECT = 0x10,
	NVME_ONCS_VERIFY = 0x80,
	NVME_ONCS_COPY = 0x100,
	NVME_OCFS_FORMAT_0 = 0x01,
	NVME_LPA_EFFECTS = 0x02,
	NVME_LPA_EXTENDED = 0x04,
	NVME_LPA_TELEMETRY = 0x08,
	NVME_LPA_SUPPORTED_PAGES = 0x20
};
enum { NVME_DSTO_ONE_TEST = 0x01 }; /* one self-test at a time in the NVM subsystem */
enum { NVME_VWC_PRESENT = 0x01, NVME_VWC_FLUSH_ALL = 0x06 };

enum { NVME_DLFEAT_READS_ZEROES = 0x01, NVME_DLFEAT_WRITE_ZEROES = 0x08 /* NVME_RW_DEAC has an effect */ };

struct nvme_lba_format {
	uint16_t ms;
	uint8_t lbads, rp;
};
enum nvme_metadata_capability { NVME_MC_SEPARATE = 2 };
enum nvme_protection_capability { NVME_DPC_TYPE1 = 0x01, NVME_DPC_LAST_BYTES = 0x10 };
enum nvme_protection_setting { NVME_DPS_TYPE1 = 1 }; /* tuple in the last bytes of the metadata */
struct nvme_identify_namespace {
	uint64_t nsze, ncap, nuse;
	uint8_t nsfeat, nlbaf, flbas, mc, dpc, dps, nmic, rescap, fpi, dlfeat;
	uint16_t nawun, nawupf, nacwu, nabsn, nabo, nabspf, noiob;
	uint8_t nvmcap[16];
	uint16_t npwg, npwa, npdg, npda, nows, mssrl;
	uint32_t mcl;
	uint8_t msrc, reserved81[11];
	uint32_t anagrpid;
	uint8_t reserved96[3], nsattr;
	uint16_t nvmsetid, endgid;
	uint8_t nguid[16], eui64[8];
	struct nvme_lba_format lbaf[64];
	uint8_t vs[3712];
};
HZ_ASSERT_SIZE(struct nvme_identify_namespace, 4096);
HZ_ASSERT_OFFSET(struct nvme_identify_namespace, nguid, 104);
HZ_ASSERT_OFFSET(struct nvme_identify_namespace, lbaf, 128);

struct nvme_zns_lba_format {
	uint64_t zsze;
	uint8_t zdes, reserved[7];
};
struct nvme_zns_identify_namespace {
	uint16_t zoc, ozcs;
	uint32_t mar, mor; /* 0's based; all ones = no limit */
	uint32_t rrl, frl, rrl_more[3], frl_more[3], numzrwa;
	uint16_t zrwafg, zrwas;
	uint8_t zrwacap, reserved53[2763];
	struct nvme_zns_lba_format lbafe[64];
	uint8_t vs[256];
};
HZ_ASSERT_SIZE(struct nvme_zns_identify_namespace, 4096);
HZ_ASSERT_OFFSET(struct nvme_zns_identify_namespace, lbafe, 2816);
enum { NVME_ZNS_OZCS_READ_ACROSS = 1, NVME_ZNS_OZCS_ZRWA = 2 };
enum { NVME_ZRWACAP_EXPLICIT_FLUSH = 1 };
enum { NVME_ZA_ZRWA_VALID = 1 << 3 }; /* zone descriptor, attributes */

struct nvme_zns_identify_controller {
	uint8_t zasl, reserved[4095];
};
HZ_ASSERT_SIZE(struct nvme_zns_identify_controller, 4096);
struct nvme_nvm_identify_controller {
	uint8_t vsl, wzsl, wusl, dmrl;
	uint32_t dmrsl;
	uint64_t dmsl;
	uint8_t reserved[4080];
};
HZ_ASSERT_SIZE(struct nvme_nvm_identify_controller, 4096);
struct nvme_independent_namespace {
	uint8_t nsfeat, nmic, rescap, fpi;
	uint32_t anagrpid;
	uint8_t nsattr, reserved9;
	uint16_t nvmsetid, endgid;
	uint8_t nstat, reserved15[4081];
};
HZ_ASSERT_SIZE(struct nvme_independent_namespace, 4096);

/* CNS 04h: NVM sets, ascending; for each its capacity in bytes, and the unallocated part. */
enum { NVME_NVM_SETS_MOST = 31 };
struct nvme_nvm_sets {
	uint8_t count, reserved1[127];
	struct nvme_nvm_set {
		uint16_t nvmsetid, endgid;
		uint8_t reserved4[4];
		uint32_t random_read_typical, optimal_write_bytes;
		uint8_t capacity[16], unallocated[16], reserved48[80];
	} set[NVME_NVM_SETS_MOST];
};
HZ_ASSERT_SIZE(struct nvme_nvm_sets, 4096);

/* CNS 12h, 13h. */
enum { NVME_HZ_CONTROLLER_ID = 1 }; /* of the only one */
struct nvme_controller_list {
	uint16_t count, id[2047];
};
HZ_ASSERT_SIZE(struct nvme_controller_list, 4096);

struct nvme_namespace_descriptor {
	uint8_t nidt, nidl;
	uint16_t reserved;
}; /* nidl bytes follow */
enum nvme_namespace_id_type { NVME_NIDT_EUI64 = 1, NVME_NIDT_NGUID = 2, NVME_NIDT_UUID = 3, NVME_NIDT_CSI = 4 };

enum nvme_log_id {
	NVME_LOG_SUPPORTED_PAGES = 0x00,
	NVME_LOG_ERROR = 0x01,
	NVME_LOG_SMART = 0x02,
	NVME_LOG_FIRMWARE = 0x03,
	NVME_LOG_CHANGED_NAMESPACES = 0x04,
	NVME_LOG_EFFECTS = 0x05,
	NVME_LOG_SELF_TEST = 0x06,
	NVME_LOG_TELEMETRY_HOST = 0x07,
	NVME_LOG_TELEMETRY_CONTROLLER = 0x08,
	NVME_LOG_ENDURANCE_GROUP = 0x09,
	NVME_LOG_FEATURES = 0x12,
	NVME_LOG_MI_COMMANDS = 0x13,
	NVME_LOG_FDP_CONFIGURATIONS = 0x20,
	NVME_LOG_FDP_HANDLES = 0x21,
	NVME_LOG_FDP_STATISTICS = 0x22,
	NVME_LOG_FDP_EVENTS = 0x23,
	NVME_LOG_SANITIZE = 0x81,
	NVME_LOG_CHANGED_ZONES = 0xbf,
};

struct nvme_error_entry {
	uint64_t error_count; /* 1… over the controller's life; 0 = unused entry */
	uint16_t sqid, cid, status_field, parameter_location;
	uint64_t lba;
	uint32_t nsid;
	uint8_t vs, trtype, reserved30[2];
	uint64_t cs;
	uint16_t trtype_info;
	uint8_t reserved42[22];
};
HZ_ASSERT_SIZE(struct nvme_error_entry, 64);

struct nvme_smart_log {
	uint8_t critical_warning, temperature[2], available_spare, spare_threshold, percentage_used, endurance_group_summary;
	uint8_t reserved7[25];
	uint64_t data_units_read[2], data_units_written[2]; /* thousands of 512 bytes, rounded up */
	uint64_t host_reads[2], host_writes[2], busy_minutes[2], power_cycles[2], power_on_hours[2];
	uint64_t unsafe_shutdowns[2], media_errors[2], error_entries[2];
	uint32_t warning_temperature_time, critical_temperature_time;
	uint16_t temperature_sensor[8];
	uint8_t reserved216[296];
};
HZ_ASSERT_SIZE(struct nvme_smart_log, 512);
HZ_ASSERT_OFFSET(struct nvme_smart_log, data_units_read, 32);
HZ_ASSERT_OFFSET(struct nvme_smart_log, error_entries, 176);

/* Of all flash, one endurance group. Bytes in thousands of millions, rounded up, except capacities. */
struct nvme_endurance_log {
	uint8_t critical_warning, features, reserved2, available_spare, spare_threshold, percentage_used;
	uint16_t domain;
	uint8_t reserved8[24];
	uint64_t estimate[2], read[2], written[2], media_written[2]; /* estimate 0: not reported */
	uint64_t host_reads[2], host_writes[2], media_errors[2], error_entries[2];
	uint64_t capacity[2], unallocated[2];
	uint8_t reserved192[320];
};
HZ_ASSERT_SIZE(struct nvme_endurance_log, 512);
HZ_ASSERT_OFFSET(struct nvme_endurance_log, estimate, 32);
HZ_ASSERT_OFFSET(struct nvme_endurance_log, unallocated, 176);

struct nvme_changed_namespaces_log {
	uint32_t nsid[1024]; /* ascending, 0 behind the last; the first all ones: more than there is room for */
};
HZ_ASSERT_SIZE(struct nvme_changed_namespaces_log, 4096);

enum { NVME_CHANGED_ZONES_MOST = 511, NVME_CHANGED_ZONES_MORE = 0xffff }; /* MORE: as `zones`, more than the page has room for */
struct nvme_changed_zones_log {
	uint16_t zones;
	uint8_t reserved2[6];
	uint64_t start[NVME_CHANGED_ZONES_MOST]; /* first LBAs */
};
HZ_ASSERT_SIZE(struct nvme_changed_zones_log, 4096);

/* Device Self-test (base spec 5.9): CDW10 3:0, and in the log the test under way. */
enum nvme_self_test { NVME_SELF_TEST_NONE = 0, NVME_SELF_TEST_SHORT = 1, NVME_SELF_TEST_EXTENDED = 2, NVME_SELF_TEST_ABORT = 0xf };
/* Bits 3:0 of a result's status; bits 7:4 are the test. */
enum nvme_self_test_end {
	NVME_SELF_TEST_PASSED = 0,
	NVME_SELF_TEST_ABORTED = 1, /* by the command */
	NVME_SELF_TEST_RESET = 2,   /* aborted by a controller reset */
	NVME_SELF_TEST_REMOVED = 3, /* aborted: its namespace was deleted */
	NVME_SELF_TEST_FORMATTED = 4,
	NVME_SELF_TEST_FAILED = 7, /* `segment` is the first that failed */
	NVME_SELF_TEST_SANITIZED = 9,
	NVME_SELF_TEST_UNUSED = 0xf, /* there is no such entry */
};
enum nvme_self_test_valid { NVME_SELF_TEST_NSID = 1, NVME_SELF_TEST_LBA = 2, NVME_SELF_TEST_SCT = 4, NVME_SELF_TEST_SC = 8 };
enum { NVME_SELF_TEST_RESULTS = 20 };
struct nvme_self_test_result {
	uint8_t status, segment, valid, reserved3; /* valid: enum nvme_self_test_valid */
	uint32_t power_on_hours[2], nsid, failing_lba[2];
	uint8_t sct, sc, vs[2];
};
HZ_ASSERT_SIZE(struct nvme_self_test_result, 28);
HZ_ASSERT_OFFSET(struct nvme_self_test_result, sct, 24);
struct nvme_self_test_log {
	uint8_t current, percent, reserved2[2];
	struct nvme_self_test_result result[NVME_SELF_TEST_RESULTS]; /* newest first */
};
HZ_ASSERT_SIZE(struct nvme_self_test_log, 564);

/* LID 81h. */
enum nvme_sanitize_state {
	NVME_SANITIZE_NEVER = 0,
	NVME_SANITIZE_DONE = 1,
	NVME_SANITIZE_RUNS = 2,
	NVME_SANITIZE_HAS_FAILED = 3,
};
enum { NVME_SANITIZE_NO_TIME = 0xffffffff };
struct nvme_sanitize_log {
	uint16_t sprog; /* of 65536; all ones: none is under way */
	uint16_t sstat; /* enum nvme_sanitize_state */
	uint32_t scdw10;
	uint32_t overwrite_s, block_erase_s, crypto_erase_s;          /* estimates */
	uint32_t overwrite_kept_s, block_erase_kept_s, crypto_kept_s; /* … without deallocation */
	uint8_t reserved32[480];
};
HZ_ASSERT_SIZE(struct nvme_sanitize_log, 512);

/* Telemetry, host-initiated and controller-initiated: a header of one block, then blocks of 512 bytes. */
enum { NVME_TELEMETRY_BLOCK = 512, NVME_TELEMETRY_CREATE = 1 << 8 /* CDW10 */ };
struct nvme_telemetry_header {
	uint8_t lpi, reserved1[4], ieee[3];
	uint16_t last_block[3]; /* of data areas 1 to 3, each from block 1 on; 0: empty */
	uint8_t reserved14[2];
	uint32_t last_block4;
	uint8_t reserved20[361], host_generation, controller_available, controller_generation, reason[128];
};
HZ_ASSERT_SIZE(struct nvme_telemetry_header, 512);
HZ_ASSERT_OFFSET(struct nvme_telemetry_header, reason, 384);

struct nvme_firmware_log {
	uint8_t afi, reserved1[7];
	char frs[7][8];
	uint8_t reserved64[448];
};
HZ_ASSERT_SIZE(struct nvme_firmware_log, 512);

struct nvme_effects_log {
	uint32_t acs[256], iocs[256];
	uint8_t reserved[2048];
};
HZ_ASSERT_SIZE(struct nvme_effects_log, 4096);
/* Of commands and, without LBA_CHANGE, of features; the scope is one of bits 31:20. */
enum nvme_effect {
	NVME_EFFECT_SUPPORTED = 1,
	NVME_EFFECT_LBA_CHANGE = 2,
	NVME_EFFECT_INVENTORY_CHANGE = 8, /* existing or attached namespaces */
	NVME_EFFECT_ALL_ALONE = 1 << 17,  /* CSE: … for any namespace */
	NVME_EFFECT_ALONE = 1 << 16,      /* CSE: no other command for the same namespace should be under way */
	NVME_SCOPE_NAMESPACE = 1 << 20,
	NVME_SCOPE_CONTROLLER = 1 << 21,
};

/* LID 00h, 12h, 13h: an entry for every log page, feature, and management command; bit 0 = supported. */
struct nvme_supported_pages {
	uint32_t page[256];
};
struct nvme_features_log {
	uint32_t feature[256];
};
struct nvme_mi_commands_log {
	uint32_t command[256];
	uint8_t reserved[3072];
};
HZ_ASSERT_SIZE(struct nvme_mi_commands_log, 4096);

#include "nvme_fdp.h"

#endif
