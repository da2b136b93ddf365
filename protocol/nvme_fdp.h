/* NVMe wire structures of flexible data placement (NVM Express Base 2.1, TP 4146), a part of nvme.h. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_NVME_FDP_H
#define HZ_PROTOCOL_NVME_FDP_H

#include "base.h"

/* Directives (base spec 8.7): a write's directive type, CDW12 23:20, and its value, CDW13 31:16. */
enum { NVME_RW_DTYPE_SHIFT = 20, NVME_RW_DTYPE_MASK = 0xf, NVME_RW_DSPEC_SHIFT = 16 };
enum nvme_directive { NVME_DIRECTIVE_IDENTIFY = 0, NVME_DIRECTIVE_STREAMS = 1, NVME_DIRECTIVE_PLACEMENT = 2 };
enum { NVME_DIRECTIVE_RETURN = 1 }; /* Directive Receive, Identify: DOPER, CDW11 7:0; the directive is in 15:8 */
struct nvme_directives {
	uint8_t supported[32], enabled[32], persistent[32], reserved96[4000]; /* a bit each */
};
HZ_ASSERT_SIZE(struct nvme_directives, 4096);

/* I/O Management Receive and Send, CDW10: operation in 7:0, its own field in 31:16. */
enum nvme_io_mgmt { NVME_IO_MGMT_NOTHING = 0, NVME_IO_MGMT_HANDLES = 1 /* receive: their status; send: update them */ };
enum { NVME_IO_MGMT_FIELD_SHIFT = 16 };
struct nvme_handle_status {
	uint16_t placement, handle;
	uint32_t seconds_left; /* 0: not reported */
	uint64_t blocks_left;  /* of the reclaim unit */
	uint8_t reserved16[16];
};
HZ_ASSERT_SIZE(struct nvme_handle_status, 32);
struct nvme_handles_status {
	uint8_t reserved0[14];
	uint16_t count;
	struct nvme_handle_status handle[];
};
HZ_ASSERT_SIZE(struct nvme_handles_status, 16);

/* Namespace Management, create: the fields of Identify Namespace, and these. */
struct nvme_handle_list {
	uint8_t reserved0[392];
	uint16_t count; /* of placement handles; 0: the controller chooses */
	uint8_t reserved394[118];
	uint16_t handle[128];
};
HZ_ASSERT_OFFSET(struct nvme_handle_list, handle, 512);

/* Flexible data placement (base spec 2.1, 8.1.10; TP 4146): LID 20h to 23h, feature 1Eh. */
enum { NVME_FDP_VALID = 0x80, NVME_FDP_VOLATILE_CACHE = 0x10 }; /* attributes of a configuration; 3:0 are bits of the reclaim group */
enum nvme_handle_type { NVME_HANDLE_INITIALLY_ISOLATED = 1, NVME_HANDLE_PERSISTENTLY_ISOLATED = 2 };
struct nvme_fdp_configuration {
	uint16_t bytes;
	uint8_t attributes, vendor_bytes;
	uint32_t groups;
	uint16_t handles, identifiers_most; /* 0's based: of an update */
	uint32_t namespaces;
	uint64_t unit_bytes;
	uint32_t unit_seconds; /* 0: not reported */
	uint8_t reserved28[36];
	struct {
		uint8_t type, reserved1[3]; /* enum nvme_handle_type */
	} handle[];
};
HZ_ASSERT_SIZE(struct nvme_fdp_configuration, 64);
struct nvme_fdp_configurations {
	uint16_t count; /* 0's based */
	uint8_t version, reserved3;
	uint32_t bytes;
	uint8_t reserved8[8];
};
HZ_ASSERT_SIZE(struct nvme_fdp_configurations, 16);
enum nvme_handle_use { NVME_HANDLE_UNUSED = 0, NVME_HANDLE_OF_HOST = 1, NVME_HANDLE_OF_CONTROLLER = 2 };
struct nvme_handles_log {
	uint16_t count;
	uint8_t reserved2[6];
	struct {
		uint8_t use, reserved1[7]; /* enum nvme_handle_use */
	} handle[];
};
HZ_ASSERT_SIZE(struct nvme_handles_log, 8);
struct nvme_fdp_statistics {
	uint64_t host_bytes[2], media_bytes[2], erased_bytes[2], reserved48[2];
};
HZ_ASSERT_SIZE(struct nvme_fdp_statistics, 64);
enum nvme_fdp_event_type {
	NVME_FDP_UNIT_NOT_FULL = 0x00,     /* host events: a reclaim unit was left before it was full */
	NVME_FDP_INVALID_PLACEMENT = 0x03, /* a write's placement identifier is none */
	NVME_FDP_MEDIA_REALLOCATED = 0x80, /* controller events: sectors moved to another reclaim unit */
};
enum nvme_fdp_event_flag { NVME_FDP_HAS_PLACEMENT = 1, NVME_FDP_HAS_NSID = 2, NVME_FDP_HAS_LOCATION = 4 };
enum { NVME_FDP_EVENTS_MOST = 63, NVME_FDP_HOST_EVENTS = 1 << 8 /* CDW10: these, else the controller's */, NVME_FDP_LBA_VALID = 1 };
struct nvme_fdp_event {
	uint8_t type, flags;
	uint16_t placement;
	uint8_t milliseconds[6], time_attributes, reserved11; /* since the start of the device */
	uint32_t nsid;
	uint8_t lba_valid, reserved17; /* of NVME_FDP_MEDIA_REALLOCATED, as the next three */
	uint16_t moved;
	uint8_t first_lba[8], reserved28[4];
	uint16_t group;
	uint8_t handle, reserved35[5], vendor[24];
};
HZ_ASSERT_SIZE(struct nvme_fdp_event, 64);
HZ_ASSERT_OFFSET(struct nvme_fdp_event, group, 32);
struct nvme_fdp_events {
	uint32_t count;
	uint8_t reserved4[60];
	struct nvme_fdp_event event[NVME_FDP_EVENTS_MOST];
};
HZ_ASSERT_SIZE(struct nvme_fdp_events, 4096);
struct nvme_fdp_event_choice {
	uint8_t type, enabled;
};
HZ_ASSERT_SIZE(struct nvme_fdp_event_choice, 2);

#endif
