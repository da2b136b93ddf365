/* The whole device as one record: the host parses YAML into it, the firmware reads it at boot and checks it once more.
 *
 * Its members are the lines of device_fields.def, which says what each means. Units are in the names. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_DEVICE_CONFIG_H
#define HZ_PROTOCOL_DEVICE_CONFIG_H

#include "base.h"
#include "device_choices.h"
#include "thread_logs.h"

#define HZ_MAX_LBAS (UINT32_MAX - (1u << 22)) /* addresses of all zones, backing ones included; the FTL has tags above */
#define HZ_MAX_BYTES_PER_S (1ull << 40)       /* a byte takes a picosecond at most */
#define HZ_CONFIG_MAGIC 0x30474643            /* "CFG0" */
enum {
	HZ_MAX_TSU = 8,
	HZ_MAX_WORKERS = 60,
	HZ_PAGE_TYPES = 4,    /* LSB, CSB, MSB, TSB */
	HZ_MAX_PLANES = 4096, /* channels * chips * dies * planes */
	HZ_MAX_CHANNELS = 64,
	HZ_MAX_PLANES_PER_DIE = 16,
	HZ_MAX_UNIT_SECTORS = 64, /* program unit of one plane */
	HZ_MAX_INFLIGHT = 65536,
	HZ_MAX_NS = 1000000000,
	HZ_BILLION = 1000000000,
	HZ_MAX_COST = 1000000,      /* cycles */
	HZ_PPA_BITS = 30,           /* a physical sector address with two map bits fits 32 bits */
	HZ_MAP_PAGE_ENTRIES = 1024, /* a table page is one sector: the entries of 4 MiB */
	HZ_MAP_ENTRY_BYTES = 4,
	HZ_CHECKPOINT_PAGES = 1022, /* table pages that a checkpoint, one sector too, tells about */
};

/* Every spin lock belongs to one class; kind and granularity are chosen per class. */
enum hz_lock_class {
#define HZ_LOCK_CLASS(constant, ...) HZ_LC_##constant,
#include "lock_classes.def"
	HZ_LOCK_CLASSES
};

/* One kind of cell; array index = page type LSB, CSB, MSB, TSB. */
struct hz_region_timing {
	uint32_t read_ns[HZ_PAGE_TYPES];
	uint32_t program_ns[HZ_PAGE_TYPES]; /* programs of several pages: [0] is the whole unit; passes: by pass */
	uint32_t erase_ns;
	uint32_t endurance; /* erases a block survives; 0 = unlimited */
};
HZ_ASSERT_SIZE(struct hz_region_timing, 40);

/* Costs of the virtual clock in cycles of a hart (docs/virtual-clock.md says what each means and where its value comes from). The
 * firmware does not read them: the host hands them to the plugin. */
struct hz_clock_costs {
	uint32_t preset; /* enum hz_clock_preset: where the costs below come from unless a file changes them */
	uint32_t mhz;    /* of every hart */
	uint32_t insn, local, remote, occupancy, wake, pause, ipi;
};
HZ_ASSERT_SIZE(struct hz_clock_costs, 36);

struct hz_device_config {
	uint32_t magic, version, bytes; /* version: hz_config_version() of device_fields.h */
#define HZ_FIELD(type, member, ...) type member;
#define HZ_LIST(type, member, items, ...) type member[items];
#define HZ_RECORD(type, member) type member;
#define HZ_PART(...)
#include "device_fields.def"
};
HZ_STATIC_ASSERT(sizeof(struct hz_device_config) <= 4096, "config fits its page");

/* Derived shape, computed once by both sides with the same code (protocol/geometry.c). */
struct hz_shape {
	uint32_t planes; /* all planes of the device = columns of a stripe */
	uint32_t page_sectors;
	uint32_t unit_sectors; /* normal program unit of one plane: program_pages * page_sectors */
	uint32_t slc_pages_per_block;
	uint32_t superpage_sectors;  /* planes * unit_sectors */
	uint32_t superblock_sectors; /* normal */
	uint32_t slc_superblock_sectors;
	uint32_t slc_superblocks, normal_superblocks;
	uint32_t zones;
	uint64_t zone_size_sectors, zone_capacity_sectors;
	uint64_t namespace_sectors;  /* zones * zone_size_sectors */
	uint32_t conventional_zones; /* zones 0 … n - 1 */
	uint32_t backing_zones;      /* numbers zones … zones + n - 1, addresses from namespace_sectors on: not visible to the host */
	uint32_t patch_sectors;      /* end of every sequential zone that lies in an SLC superblock reserved for it; 0 = none */
	uint32_t
		patch_superblocks; /* the last SLC superblocks, set aside for patches: one per zone and the spare ones; not part of the log */
	uint32_t map_pages_per_zone; /* table pages of HZ_MAP_PAGE_ENTRIES entries */
	uint32_t map_checkpoints;    /* sectors that say how new the conventional zones' table pages are; 0: map in RAM */
};

#ifdef __cplusplus
extern "C" {
#endif
/* NULL if the config is legal, else one sentence that names the field, its value and the rule (static or in text[bytes]). */
const char *hz_device_config_check(const struct hz_device_config *cfg, char *text, size_t bytes);
/* The same for a device without FTL, whose SLC region may have any size: the flash layer alone. */
const char *hz_flash_config_check(const struct hz_device_config *cfg, char *text, size_t bytes);
/* "CDPW" … "WPDC", fastest dimension first; NULL beyond HZ_PLANE_SCHEMES. */
const char *hz_plane_scheme_name(uint32_t scheme);
/* Requires a legal config. */
void hz_shape_of(const struct hz_device_config *cfg, struct hz_shape *shape);
#ifdef __cplusplus
}
#endif

#endif
