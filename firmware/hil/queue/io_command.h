/* I/O commands: from a submission queue entry to an FTL request, or to the status that the specification names. Pure. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_IO_COMMAND_H
#define HIL_IO_COMMAND_H

#include "device_choices.h"
#include "ftl/request/ftl_request.h"
#include "hil/host/prp.h"

/* Of a namespace. */
struct io_limits {
	struct host_bus bus;
	uint64_t namespace_sectors;
	bool zoned;          /* the namespace is of the Zoned Namespace Command Set; else of the NVM Command Set alone */
	bool write_cache;    /* feature 06h; off: every write is a FUA write */
	uint32_t plp_mode;   /* enum hz_plp_mode */
	uint32_t protection; /* enum hz_protection */
	bool copies;         /* the device has memory for Copy */
	bool in_place;       /* sectors of sequential zones may be written again */
	bool inactive;       /* the namespace is not attached, or does not exist */
	uint32_t number;     /* of the namespace: NSID - 1 */
};

/* sqe must be a private copy (the host may change its ring). pages: room for PRP_MAX_PAGES. Fills the "in" part of req. */
uint16_t io_decode(const struct io_limits *limits, const struct nvme_sqe *sqe, uint8_t **pages, struct ftl_request *req);

#endif
