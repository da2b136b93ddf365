/* Sources of log pages: health, errors, statistics, self-tests, telemetry. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_CONTROLLER_HEALTH_H
#define HIL_CONTROLLER_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "hil/controller/admin.h"
#include "hil/ports/ports.h"
#include "logs.h"
#include "nand_image.h"
#include "nvme.h"
#include "port/ftl_port.h"

/* Error log: the last errors reported to the host, and their total number (base spec 5.16.1.2). */

enum { HIL_ERROR_ENTRIES = 64 };

struct arena;
struct error_log {
	uint64_t errors, media_errors;  /* commands with any error status; with one of the media */
	struct nvme_error_entry *entry; /* ring of HIL_ERROR_ENTRIES */
};

void error_log_init(struct error_log *log, struct arena *arena);
void error_log_add(struct error_log *log, uint16_t sqid, uint16_t cid, uint16_t status, uint64_t lba, uint32_t nsid);
/* HIL_ERROR_ENTRIES entries, newest first; missing ones are left unchanged. */
void error_log_copy(const struct error_log *log, struct nvme_error_entry *out);

/* Health: conditions found by the device (damage at mount, few spare superblocks, changed zones), as critical warnings and events. */

enum { HEALTH_SPARE_THRESHOLD = 10 }; /* percent */

struct health {
	struct ftl_watch watch;
	const struct controller_ops *device;
	uint32_t namespaces; /* how many FTLs there are */
	struct error_log *errors;
	struct async_events *events;
	uint32_t warning; /* enum nvme_critical_warning */
};

/* Before the harts run: takes over mount's findings, and makes `thread` the receiver of later ones. */
void health_init(struct health *health, const struct controller_ops *device, uint32_t namespaces, struct error_log *errors,
		 struct async_events *events, const struct lt_thread *thread);
/* The host has enabled events: raise those for present conditions. */
void health_tell(struct health *health);

/* Counters of flash and FTL since the last statistics reset. They only ever grow; a reset stores their values. */

struct arena;
struct media_counts {
	struct hz_log_flash flash;
	struct hz_log_energy energy;
};
struct statistics {
	const struct controller_ops *device;
	uint32_t namespaces;
	struct media_counts *media; /* as they stood */
	struct hz_log_ftl *ftl;     /* … of each namespace */
};

void statistics_init(struct statistics *statistics, struct arena *arena, const struct controller_ops *device, uint32_t namespaces);
/* From the counters published by all harts. Clock frozen. */
void statistics_restart(struct statistics *statistics);
void statistics_flash(const struct statistics *statistics, struct hz_log_flash *out);
void statistics_energy(const struct statistics *statistics, struct hz_log_energy *out);
/* Of the namespace nsid, or the sum over all (0, all ones). */
void statistics_ftl(const struct statistics *statistics, uint32_t nsid, struct hz_log_ftl *out);

/* Log pages, except those of the locks: from counters of the HIL and the harts. */

enum { LOG_RETAIN_EVENT = 1 << 15 /* CDW10 */, LOG_VERSION = 1 /* of the vendor pages */ };

struct hil;
bool log_page_known(const struct hil *hil, unsigned id);
/* Fill hil->scratch with the log page of sqe, a known one; returns its size. Clock frozen. */
uint32_t log_page_build(struct hil *hil, const struct nvme_sqe *sqe);

/* Device self-test (base spec 5.9, 8.6): one at a time, in the background.
 *
 * Segment 1 is the controller's: no critical warning of the SMART log. Segment 2 is the media of the chosen namespaces: an extended test
 * reads all of their sectors, a short one 16 pieces of each. The test and its results are in the image: a reset or a loss of power ends a short
 * test and interrupts an extended one, which goes on when the controller is enabled. */

struct self_test {
	bool busy;                      /* a verify is in the device … */
	bool stale;                     /* … for a test that has ended */
	uint64_t singles;               /* a piece failed: up to here sector by sector */
	struct hz_nand_self_test state; /* as in the image */
	struct ftl_request req;
};

admin_handler admin_self_test;
/* The controller was enabled; clock frozen. */
void self_test_resume(struct hil *hil);
/* It resets, or shuts down: no further piece is read until it is enabled; self_test.busy says that one is still in the device, and
 * life_step is called after it. */
void self_test_interrupt(struct hil *hil);
/* The data of a namespace go away: a test of it ends so. */
void self_test_drop(struct hil *hil, uint32_t number, enum nvme_self_test_end end);
/* Fill the log page. */
uint32_t self_test_page(struct hil *hil, struct nvme_self_test_log *log);

/* Telemetry (base spec 5.16.1.8, 5.16.1.9): log pages of ours, taken together when a host asks for it.
 *
 * The data stay until the next creation, over controller resets; a restart loses them, not their number. The controller itself never
 * creates any, so that its page is a header. */

struct telemetry {
	struct nvme_telemetry_header header;
	uint8_t *blocks;      /* header.last_block[2] of them, behind the header */
	uint32_t block_count; /* there is room for */
};

/* Before the harts run. */
void telemetry_init(struct telemetry *telemetry, struct arena *arena);
static inline bool telemetry_is_page(unsigned id) { return id == NVME_LOG_TELEMETRY_HOST || id == NVME_LOG_TELEMETRY_CONTROLLER; }
/* The command creates data before it reads them: all harts must have published their part first. */
static inline bool telemetry_creates(const struct nvme_sqe *sqe)
{
	return (sqe->cdw10 & 0xff) == NVME_LOG_TELEMETRY_HOST && sqe->cdw10 & NVME_TELEMETRY_CREATE;
}
/* All harts have published their part. Overwrites hil->scratch. Clock frozen. */
void telemetry_create(struct hil *hil);
/* The header of the page, and the number of blocks behind it. Clock frozen. */
uint32_t telemetry_header(const struct hil *hil, unsigned id, struct nvme_telemetry_header *out);

#endif
