/* A request from the HIL to the FTL, and its result. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_FTL_REQUEST_H
#define FTL_FTL_REQUEST_H

#include <stdint.h>
#include "lt/event.h"
#include "nvme.h"
#include "sgl.h"
#include "tuple.h"

enum ftl_op {
	FTL_READ,
	FTL_VERIFY,  /* a read that moves no data: sgl is ignored */
	FTL_COMPARE, /* a read with its data compared with sgl; NVME_COMPARE_FAILURE: they differ */
	FTL_WRITE,
	FTL_APPEND,
	FTL_UPDATE, /* a write of sectors before the write pointer of a sequential zone; at it, and elsewhere, a plain one */
	FTL_WRITE_ZEROES,
	FTL_DEALLOCATE,  /* sgl: `sectors` ranges, struct nvme_dsm_range */
	FTL_COPY,        /* sgl: `sectors` source ranges, struct nvme_copy_range; all of them go to lba and behind it */
	FTL_COPY_APPEND, /* the same to the write pointer of the zone at lba */
	FTL_FLUSH,
	FTL_ZONE_OPEN,
	FTL_ZONE_CLOSE,
	FTL_ZONE_FINISH,
	FTL_ZONE_RESET,
	FTL_ZONE_OFFLINE,
	FTL_ZONE_REPORT, /* fills sgl with zone descriptors */
	FTL_ABANDON,     /* the controller was reset: every request of its life `lba` or an earlier one ends (cancel.c) */
};
/* FTL_INSIDE: an internal read or write: its data stay in the device and do not cross the link. FTL_AT_REST: a flush after which every
 * active zone is CLOSED, or EMPTY if it was never written, and the media is marked clean: the controller shuts down. One at a time, and
 * with no other request. FTL_FREES: on WRITE_ZEROES: conventional sectors are deallocated, so that they read as zeros. */
enum ftl_flags { FTL_FUA = 1, FTL_ALL_ZONES = 2, FTL_PARTIAL_REPORT = 4, FTL_INSIDE = 8, FTL_AT_REST = 16, FTL_FREES = 128 };

/* ftl_request.protect, on a device with protection information; 0 on any other. Checks by the controller: enum hz_tuple_check. */
enum ftl_protect {
	FTL_HOST_TUPLES =
		HZ_TUPLE_BYTES, /* the host's buffer has the tuples, and they cross the link; else writes make and reads strip them */
	FTL_MOVED = 16,         /* the device's own write: tuples lie behind the sectors of sgl, as in all of its memory */
};

/* Preallocated by the HIL, one per command in flight. The HIL has checked opcode, nsid, LBA range and PRPs; the FTL checks everything
 * that depends on zone state and answers with NVMe status codes. */
struct ftl_request {
	struct lt_event event;
	/* in */
	uint8_t op; /* enum ftl_op */
	uint8_t flags;
	uint8_t report_filter;      /* ZRASF, FTL_ZONE_REPORT */
	uint8_t queue;              /* submission queue: the stream of reads under the fair schedule */
	uint32_t sectors;           /* READ/VERIFY/COMPARE/WRITE/APPEND/WRITE_ZEROES; bytes the host asked for are sgl.bytes */
	uint64_t lba;               /* first LBA; zone commands and append: zone start (checked by the FTL) */
	uint64_t namespace_sectors; /* LBAs from here on do not exist; 0: as many as the FTL has */
	uint32_t life;              /* controller life of the request, counted from 1, one more after each reset; 0: an internal request */
	struct sgl sgl;
	uint8_t *tuples;          /* FTL_HOST_TUPLES: their address, at any alignment; NULL with Write Zeroes: tuples of zeros */
	struct hz_tuple expected; /* tags of the first sector; reference tags count up, of an append from the zone's start */
	uint64_t data_ns;         /* FTL_INSIDE, of a write: its data are there from then on; 0: they are */
	uint16_t tag_mask;        /* bits of the application tag to check */
	uint8_t protect;          /* enum ftl_protect, enum hz_tuple_check; of a copy those of its destination */
	uint8_t source_checks;    /* copy: enum hz_tuple_check of its sources, on a device with protection information */
	/* out */
	uint16_t status;   /* NVMe status field without phase: SCT << 8 | SC; DNR is bit 14 */
	uint64_t result;   /* append: LBA written */
	uint64_t ready_ns; /* device time at which data have crossed the link: no completion before; 0 = at once */
	/* owner */
	struct lt_thread *reply_to;            /* HIL thread */
	void (*done)(struct ftl_request *req); /* runs on reply_to's hart */
	/* private to the FTL between submit and done */
	uint64_t work[24];
};

#endif
