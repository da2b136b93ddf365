/* FTL: one request interface for the HIL, run by N worker threads that share zone map, mapping table and write buffers under locks. */
#ifndef FTL_FTL_H
#define FTL_FTL_H

#include "link.h"
#include "logs.h"
#include "lt/event.h"
#include "nvme.h"
#include "sgl.h"
#include "tsu/tsu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ftl_op {
	FTL_READ, FTL_WRITE, FTL_APPEND, FTL_WRITE_ZEROES, FTL_FLUSH,
	FTL_ZONE_OPEN, FTL_ZONE_CLOSE, FTL_ZONE_FINISH, FTL_ZONE_RESET, FTL_ZONE_OFFLINE,
	FTL_ZONE_REPORT, /* fills sgl with zone descriptors */
	FTL_ABANDON,     /* the controller was reset: every request of its life `lba` or an earlier one ends (abandon.c) */
};
/* FTL_AT_REST: a flush after which every active zone is CLOSED, or EMPTY if it was never written, and the media is marked as being at rest:
 * the controller shuts down. One at a time, and no other request beside it. */
enum ftl_flags { FTL_FUA = 1, FTL_ALL_ZONES = 2, FTL_PARTIAL_REPORT = 4, FTL_AT_REST = 16 };

/* Preallocated by the HIL, one per command in flight. The HIL has checked opcode, nsid, LBA range and PRPs; the FTL checks
 * everything that depends on zone state and answers with NVMe status codes. */
struct ftl_request {
	struct lt_event event;
	/* in */
	uint8_t op;              /* enum ftl_op */
	uint8_t flags;
	uint8_t report_filter;   /* ZRASF, FTL_ZONE_REPORT */
	uint8_t queue;           /* submission queue: the stream of reads under the fair schedule */
	uint32_t sectors;        /* READ/WRITE/APPEND/WRITE_ZEROES; REPORT: bytes the host asked for are sgl.bytes */
	uint64_t lba;            /* first LBA; zone commands and append: zone start (checked by the FTL) */
	uint32_t life;           /* of the controller, which has a new one after each reset, from 1 on; 0: the device's own request */
	struct sgl sgl;
	/* out */
	uint16_t status;         /* NVMe status field without phase: SCT << 8 | SC; DNR is bit 14 */
	uint16_t reserved_out;
	uint32_t reserved_out2;
	uint64_t result;         /* append: LBA written */
	uint64_t ready_ns;       /* device time at which the completion may be posted (data has crossed the link); 0 = at once */
	/* owner */
	struct lt_thread *reply_to;                  /* HIL thread */
	void (*done)(struct ftl_request *req);       /* runs on reply_to's hart */
	/* private to the FTL between submit and done */
	uint64_t work[24];
};

struct ftl;
/* Timers that the FTL may have armed at once on one hart: what lt_harts_init must allow beside the other threads'. */
static inline unsigned ftl_timers(const struct hz_device_config *cfg)
{
	return 2 + (cfg->buffer_idle_ns ? cfg->write_buffers + cfg->conventional_buffers : 0); /* the map's log, coming to rest; buffers */
}
struct link_pair { struct link to_host, to_device; };
/* What mount found lost. What lies at its place is not looked at: who reads it is told. */
struct ftl_damage {
	uint64_t lost_sectors;        /* accepted sectors that are nowhere: reads of them end with NVME_UNRECOVERED_READ */
	uint64_t first_lba;           /* the first of them */
	uint32_t read_only_zones;     /* that became READ ONLY for it */
	uint64_t unknown_sectors;     /* conventional ones that are lost with their records: older versions of them may be read */
	uint32_t table_copies;        /* lost ones of zone table pages of which the other copy is there; they are written again */
};
void ftl_damage_found(const struct ftl *ftl, struct ftl_damage *out);
/* Who is told of zones that the device itself changes, and of superblocks that it retires. Owned by who gives it. */
struct ftl_watch {
	struct lt_event event;
	const struct lt_thread *thread;
	void (*changed)(struct ftl_watch *watch);    /* runs on thread's hart after changes, one call for any number of them */
	lt_word posted;                              /* 1: event is posted */
};
/* Before the harts run. Of what mount changed nobody is called. */
void ftl_set_watch(struct ftl *ftl, struct ftl_watch *watch);
/* Of the superblocks that zones take; the scarcer and the more worn of normal ones and those for patches. */
struct ftl_health {
	uint8_t spare_percent;        /* of those beyond what the zones need, how many have not been retired */
	uint8_t used_percent;         /* mean erases of what a block endures; at most 255; 0 if it endures any number */
};
/* Any hart, no lock. */
void ftl_report_health(const struct ftl *ftl, struct ftl_health *out);
/* Zones that the device has changed to READ ONLY and that have not been taken: how many, and the first LBA of at most `most` of them,
 * ascending. take: they count as told. Any hart, no lock. */
uint32_t ftl_changed_zones(struct ftl *ftl, uint64_t *start, uint32_t most, bool take);
/* Builds everything from the arena and mounts: recovers zones from flash (tsu_read_now). Returns NULL and one sentence in *error
 * if the media cannot be mounted. */
struct ftl *ftl_init(struct arena *arena, const struct hz_device_config *cfg, const struct flash_map *map, struct tsu *tsu,
		     struct link_pair *links, const char **error);
/* HIL hart: hand a request to worker `worker` (0 …). */
void ftl_submit(struct ftl *ftl, unsigned worker, struct ftl_request *req);
/* Counters for another hart, in two steps: the workers' harts publish theirs (a hart without one does nothing), then whoever was told
 * so by an event reads the sum. */
void ftl_publish(struct ftl *ftl);
void ftl_published(struct ftl *ftl, struct hz_log_ftl *out);
/* Both at once, with the worker harts idle or stopped. */
void ftl_report(struct ftl *ftl, struct hz_log_ftl *out);
/* Whole-state check with harts idle: NULL or one sentence that names the broken invariant. Tests and end of run. */
const char *ftl_check(struct ftl *ftl);

#ifdef __cplusplus
}
#endif
#endif
