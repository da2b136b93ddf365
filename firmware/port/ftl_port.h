/* The port between the controller and its FTL: requests, and the functions that an FTL defines. Everything above (firmware/hil, firmware/main)
 * knows an FTL by this header only, so that an image can have another FTL than firmware/ftl (docs/guide/own-ftl.md).
 *
 * An FTL serves one namespace. It runs on the harts of cfg->worker_hart, in event handlers, stands on the TSU (tsu/tsu.h), and moves data
 * with sgl_read and sgl_write. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PORT_FTL_PORT_H
#define PORT_FTL_PORT_H

#include <stdint.h>

#include "device_config.h"
#include "link.h"
#include "logs.h"
#include "lt/arch.h"
#include "lt/event.h"
#include "mount_report.h"
#include "nvme.h"
#include "sgl.h"
#include "tuple.h"

/* Requests from the HIL, and their results. */

enum ftl_op {
	FTL_READ,
	FTL_VERIFY,  /* a read that moves no data: sgl is ignored */
	FTL_COMPARE, /* a read with its data compared with sgl; NVME_COMPARE_FAILURE: they differ */
	FTL_WRITE,
	FTL_APPEND,
	FTL_UPDATE, /* a write of sectors before the write pointer of a sequential zone; at it, and elsewhere, a plain one */
	FTL_WRITE_ZEROES,
	FTL_WRITE_UNCORRECTABLE, /* a write of zeros whose reads end with NVME_HZ_MARKED */
	FTL_DEALLOCATE,          /* sgl: `sectors` ranges, struct nvme_dsm_range */
	FTL_COPY,                /* sgl: `sectors` source ranges, struct nvme_copy_range; all of them go to lba and behind it */
	FTL_COPY_APPEND,         /* the same to the write pointer of the zone at lba */
	FTL_FLUSH,
	FTL_ZONE_OPEN,
	FTL_ZONE_CLOSE,
	FTL_ZONE_FINISH,
	FTL_ZONE_RESET,
	FTL_ZONE_COMMIT, /* lba: the last one of the zone's random write area that its write pointer moves over */
	FTL_ZONE_OFFLINE,
	FTL_ZONE_REPORT,      /* fills sgl with zone descriptors */
	FTL_PLACEMENT_STATUS, /* fills sgl with struct nvme_handles_status and its handles */
	FTL_PLACEMENT_UPDATE, /* sgl: `sectors` placement identifiers, two bytes each: each handle's next write fills another reclaim unit */
	FTL_CANCEL, /* the controller was reset: every request of its life `lba` or an earlier one ends: those that wait, with NVME_ABORT_REQUESTED, or as if nothing had happened. Then it completes */
	/* All zones are EMPTY or OFFLINE, conventional sectors are deallocated and no request is under way: every block of flash that has held
	 * user data, and is not bad, is erased. Only tables of the FTL stay. NVME_WRITE_FAULT: one could not be. May be repeated. */
	FTL_ERASE,
};
/* FTL_INSIDE: an internal read or write: its data stay in the device and do not cross the link. FTL_CLEAN: a flush after which every
 * active zone is CLOSED, or EMPTY if it was never written, and the media is marked clean: the controller shuts down. One at a time, and
 * with no other request. FTL_FREES: on WRITE_ZEROES: conventional sectors are deallocated, so that they read as zeros.
 * FTL_ZRWA: on ZONE_OPEN: the zone gets a random write area. */
enum ftl_flags { FTL_FUA = 1, FTL_ALL_ZONES = 2, FTL_PARTIAL_REPORT = 4, FTL_INSIDE = 8, FTL_CLEAN = 16, FTL_FREES = 128, FTL_ZRWA = 128 };

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
	uint16_t placement;         /* writes: placement identifier, checked by the FTL; 0 without cfg->fdp_handles */
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

/* Health: how much of the flash is left to live on, and losses found by mount. */

/* spare_percent: the scarcest of the superblock pools (normal, patches) and the SLC log. used_percent: the more worn of the two pools. */
struct ftl_health {
	uint8_t spare_percent; /* spare blocks not yet retired */
	uint8_t used_percent;  /* mean erases relative to the endurance; at most 255; 0 if endurance is unlimited */
};

/* Mount does not read the place of a lost sector: a read of it fails. */
struct ftl_damage {
	uint64_t lost_sectors;    /* acknowledged sectors without a copy: reads of them end with NVME_UNRECOVERED_READ */
	uint64_t first_lba;       /* the first of them, and of zones of `records` */
	uint32_t read_only_zones; /* zones READ ONLY because of it, or of their record */
	uint64_t unknown_sectors; /* lost with their records, LBAs unknown: older data, or none, may be read for them */
	uint32_t table_copies;    /* zone table pages with one copy lost and the other readable; they are written again */
	uint32_t records;         /* impossible zone records: these zones are READ ONLY or OFFLINE */
};

/* Event posted when the device changes a zone itself or retires a superblock. Memory of the caller of ftl_set_watch. */
struct ftl_watch {
	struct lt_event event;
	const struct lt_thread *thread;
	void (*changed)(struct ftl_watch *watch); /* runs on thread's hart after changes, one call for any number of them */
	lt_word posted;                           /* 1: event is posted */
};

/* Events of flexible data placement. */
struct ftl_placement_event {
	uint64_t at_ns, lba; /* lba: the first of `moved` sectors; of a write, its first */
	uint32_t moved;
	uint16_t placement;
	uint8_t type; /* enum nvme_fdp_event_type */
};
/* Its bit in a set of types. */
static inline uint32_t ftl_placement_type(uint8_t type) { return 1u << ((type & 7) + (type & 0x80 ? 8 : 0)); }

/* What an FTL defines. Its private state is a struct ftl of its own. Where it says "optional", an FTL that does not define the function has
 * that of port/optional.c, which answers as one without zones and a mount. */

#ifdef __cplusplus
extern "C" {
#endif

struct arena;
struct flash_map;
struct ftl;
struct tsu;

/* Hart 0, before the harts run. Memory comes from the arena, and nowhere else. The FTL reads what the flash has (tsu/tsu_mount.h) and ends
 * with tsu_mounted. NULL, and one sentence in *error, if it does not know something that the config asks for, or cannot use the image. */
struct ftl *ftl_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct tsu *tsu,
		     struct link_pair *links, const char **error);
/* Timers that an FTL may have armed at once on one hart: an addend of the limit for lt_harts_init, for any FTL. */
static inline unsigned ftl_timers(const struct hz_device_config *cfg)
{
	return 2 + (cfg->buffer_idle_ns ? cfg->write_buffers + cfg->conventional_buffers : 0); /* the map's log, the clean mark; buffers */
}
/* Optional. Cost of mount, from its beginning; all zeros if ftl_init reads nothing. */
const struct hz_mount_report *ftl_mount_report(const struct ftl *ftl);
/* Optional. */
void ftl_damage_found(const struct ftl *ftl, struct ftl_damage *out);
/* Optional. Before the harts run. Changes by mount are not notified. */
void ftl_set_watch(struct ftl *ftl, struct ftl_watch *watch);
/* A HIL hart: hands a request to worker `worker` (0 …), or to another one. Its LBA is one of the namespace. It comes back by req->done, an
 * event on reply_to's hart, once and always: what the FTL does not know ends with NVME_INVALID_OPCODE | NVME_DNR. Never waits. */
void ftl_submit(struct ftl *ftl, unsigned worker, struct ftl_request *req);
/* Optional. Zones changed by the device to READ ONLY and not yet taken: returns how many, and the first LBA of at most `most` of them, ascending.
 * take: mark them reported. Any hart, no lock. */
uint32_t ftl_changed_zones(struct ftl *ftl, uint64_t *start, uint32_t most, bool take);
/* Optional. Any hart, no lock. */
void ftl_report_health(const struct ftl *ftl, struct ftl_health *out);
/* Counters for another hart, in two steps: the workers' harts publish theirs (a hart without a worker does nothing), then the receiver
 * of their events reads the sum. Never waits. */
void ftl_publish(struct ftl *ftl);
void ftl_published(struct ftl *ftl, struct hz_log_ftl *out);
/* Optional. Sectors being written in place now (FTL_UPDATE). Any hart. */
uint64_t ftl_in_place_sectors(const struct ftl *ftl);
/* Optional. The types of events that are noted for a handle, at first none; any hart, no lock. */
void ftl_note_placement_events(struct ftl *ftl, uint32_t handle, uint32_t types);
uint32_t ftl_placement_events_noted(const struct ftl *ftl, uint32_t handle);
/* Optional. Copies the host's events (else the controller's) of the present boot, the oldest first, and returns how many; at most
 * NVME_FDP_EVENTS_MOST, the newest. Any hart; takes a lock. */
uint32_t ftl_placement_events(struct ftl *ftl, bool of_host, struct ftl_placement_event *out);
/* Optional. As if there had been none, and none were noted: the namespace is a new one. Any hart; takes a lock. */
void ftl_forget_placement_events(struct ftl *ftl);
/* Whole-state check: NULL or one sentence about the broken invariant. Harts idle; tests and end of run. */
const char *ftl_check(struct ftl *ftl);

#ifdef __cplusplus
}
#endif

#endif
