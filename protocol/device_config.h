/* The whole device as one record: the host parses YAML into it, the firmware reads it at boot and checks it once more.
 *
 * Units are in the names. Every field is echoed into result.json. Rules: see hz_device_config_check (both sides link it). */
#ifndef HZ_PROTOCOL_DEVICE_CONFIG_H
#define HZ_PROTOCOL_DEVICE_CONFIG_H

#include "base.h"
#include "thread_logs.h"

#define HZ_MAX_LBAS (UINT32_MAX - (1u << 22)) /* addresses of all zones, backing ones included; the FTL has tags above */
#define HZ_CONFIG_MAGIC 0x30474643 /* "CFG0" */
enum {
	HZ_CONFIG_VERSION = 1,
	HZ_MAX_TSU = 8,
	HZ_MAX_WORKERS = 60,
	HZ_PAGE_TYPES = 4,    /* LSB, CSB, MSB, TSB */
	HZ_MAX_PLANES = 4096, /* channels * chips * dies * planes */
	HZ_MAX_CHANNELS = 64,
	HZ_MAX_PLANES_PER_DIE = 16,
	HZ_MAX_UNIT_SECTORS = 64, /* program unit of one plane */
	HZ_MAX_INFLIGHT = 65536,
	HZ_SLC_HEADS = 3,     /* open superblocks of the SLC log: data, tables, collector */
	HZ_ZONE_RECORDS_PER_PAGE = 64,
	HZ_ZONE_TABLE_COPIES = 2,
	HZ_MAP_WRITES = 16,   /* pages of the map that may be on their way to SLC at a time */
	HZ_PPA_BITS = 30,     /* a physical sector address with two map bits fits 32 bits */
};

enum hz_cell { HZ_CELL_SLC = 1, HZ_CELL_MLC = 2, HZ_CELL_TLC = 3, HZ_CELL_QLC = 4 };
/* Timing-only keeps OOB, and the data of SLC blocks, where the tables are; it drops the data of normal blocks: reads give zeros. */
enum hz_media_mode { HZ_MEDIA_STORE = 0, HZ_MEDIA_TIMING_ONLY = 1 };

/* Order in which consecutive program units visit the planes, fastest first: CWDP = channel, way (chip), die, plane.
 * Numbered as the 24 permutations in lexicographic order of the letters C < D < P < W. */
enum { HZ_PLANE_SCHEMES = 24 };

/* Every spin lock belongs to one class; kind and granularity are chosen per class. */
enum hz_lock_class {
#define HZ_LOCK_CLASS(constant, ...) HZ_LC_##constant,
#include "lock_classes.def"
	HZ_LOCK_CLASSES
};
enum hz_lock_stats { HZ_STATS_OFF, HZ_STATS_CONTENDED, HZ_STATS_ALL };

/* What a die does next. Priority with read_age_limit_ns 0 is FIFO too. */
enum hz_schedule {
	HZ_SCHED_PRIORITY, /* mapping, host reads, host writes, GC, erases; what waited for read_age_limit_ns goes first */
	HZ_SCHED_FIFO,     /* in order of arrival */
	HZ_SCHED_FAIR,     /* streams take turns by the die time they used; the device's own work is a stream of its own */
	HZ_SCHEDULES
};

enum hz_buffer_binding {
	HZ_BIND_MODULO,     /* ConZone: zone index modulo buffer count */
	HZ_BIND_FIRST_FREE, /* any free buffer; none: evict the fullest */
	HZ_BIND_PER_ZONE,   /* a buffer for each active zone (buffers >= max_active) */
};

enum hz_namespace_kind {
	HZ_NS_ZONED,        /* ZNS: sequential zones, the first conventional_zones of them conventional */
	HZ_NS_BLOCK,        /* NVM command set only: every zone is conventional, the host sees no zones (legacy device) */
};

/* Which superblock a garbage collector takes next. */
enum hz_gc_policy {
	HZ_GC_GREEDY,       /* fewest valid sectors */
	HZ_GC_COST_BENEFIT, /* most (1 - u) / 2u * age, u = valid part (Rosenblum and Ousterhout, LFS) */
	HZ_GC_FIFO,         /* oldest */
	HZ_GC_WEAR,         /* greedy among the candidates whose erase count is not above the mean */
	HZ_GC_POLICIES
};

/* How far entries of contiguous sectors are aggregated: the two map bits of an entry (ConZone, section III-C). */
enum hz_map_level { HZ_MAP_PAGE, HZ_MAP_CHUNK, HZ_MAP_ZONE, HZ_MAP_LEVELS };

/* How a miss learns which level holds its entry (ConZone, sections III-C and IV-D). */
enum hz_l2p_strategy {
	HZ_L2P_BITMAP,      /* map bits of all entries in RAM: one fetch, of the right level */
	HZ_L2P_MULTIPLE,    /* fetch as if the zone were aggregated, check the bits, then the chunk, then the page */
	HZ_L2P_PINNED,      /* aggregated entries enter the cache when they are made and stay: what misses is a page entry */
	HZ_L2P_STRATEGIES
};
enum hz_l2p_eviction { HZ_L2P_LRU, HZ_L2P_CLOCK }; /* CLOCK: a hit sets a bit instead of moving the entry in a list */
enum hz_l2p_log_policy {
	HZ_L2P_LOG_BACKGROUND, /* flushed from half full on; writes wait only when it is full */
	HZ_L2P_LOG_BLOCKING,   /* flushed when full; writes wait until it is empty */
};
enum { HZ_MAP_PAGE_ENTRIES = 1024, HZ_MAP_ENTRY_BYTES = 4 }; /* a table page is one sector: the entries of 4 MiB */
enum { HZ_CHECKPOINT_PAGES = 1022 };  /* table pages that a checkpoint, one sector too, tells about */

struct hz_region_timing { /* one kind of cell; array index = page type LSB, CSB, MSB, TSB */
	uint32_t read_ns[HZ_PAGE_TYPES];
	uint32_t program_ns[HZ_PAGE_TYPES]; /* programs of several pages: [0] is the whole unit; passes: by pass */
	uint32_t erase_ns;
	uint32_t endurance;                 /* erases a block survives; 0 = unlimited */
};
HZ_ASSERT_SIZE(struct hz_region_timing, 40);

/* Costs of the virtual clock in cycles of a hart (docs/virtual-clock.md says what each means and where its value comes from). The
 * firmware does not read them: the host hands them to the plugin. */
enum hz_clock_preset { HZ_CLOCK_DEFAULT, HZ_CLOCK_IDEAL };
struct hz_clock_costs {
	uint32_t preset;                /* enum hz_clock_preset: where the costs below come from unless a file changes them */
	uint32_t mhz;                   /* of every hart; 0 = the plugin's own defaults for all of this */
	uint32_t insn, local, remote, occupancy, wake, pause, ipi;
};
HZ_ASSERT_SIZE(struct hz_clock_costs, 36);

struct hz_device_config {
	uint32_t magic, version, bytes, seed;
	char name[32];

	/* Geometry. Chip = package on a channel ("way"); planes of a die run the same operation at the same offset together. */
	uint32_t channels, chips_per_channel, dies_per_chip, planes_per_die;
	uint32_t blocks_per_plane, pages_per_block, page_bytes;
	uint32_t slc_blocks_per_plane;  /* the first n blocks of every plane work as SLC: pages_per_block / bits-per-cell pages each */
	uint32_t cell;                  /* enum hz_cell of the other blocks */
	uint32_t program_pages;         /* pages programmed at once in normal blocks: 1 (MLC page by page), 3 (TLC), 4 (QLC) one-shot */
	uint32_t slc_program_sectors;   /* partial program unit in SLC blocks, in 4 KiB sectors (1 = ConZone) */
	uint32_t plane_scheme;          /* 0 … HZ_PLANE_SCHEMES-1 */
	uint32_t media_mode;            /* enum hz_media_mode */
	uint32_t reserved_geometry;

	/* Timing */
	struct hz_region_timing slc, normal;
	uint64_t channel_bytes_per_s;   /* per channel; 0 = transfers take no time */
	uint32_t command_ns;            /* command + address cycles on the channel, per transaction */
	uint32_t suspend_ns;            /* program/erase suspend cost; 0 = no suspend */
	uint32_t read_age_limit_ns;     /* a waiting program or erase this old goes before reads; 0 = strict FIFO per die */
	uint32_t reserved_timing;

	/* Zones. A zone is one superblock: the same normal block index on every plane. */
	uint32_t zones;                 /* 0 = as many as the media holds beside spare_superblocks */
	uint32_t spare_superblocks;
	uint64_t zone_size_sectors;     /* LBA distance of zone starts; 0 = capacity, in a zoned namespace rounded up to a power of two */
	uint64_t zone_capacity_sectors; /* 0 = all sectors of a superblock */
	uint32_t max_open, max_active;  /* 0 = no limit */

	/* Write buffers */
	uint32_t write_buffers;         /* count; each holds one superpage: a row of program units over all planes */
	uint32_t buffer_binding;        /* enum hz_buffer_binding */
	uint32_t flush_unit_planes;     /* consecutive planes of the stripe flushed together (multi-plane unit), divides all planes */
	uint32_t reserved_buffers;

	/* Host link model, device time */
	uint64_t pcie_bytes_per_s;      /* each direction */
	uint32_t doorbell_ns, fetch_ns, completion_ns, interrupt_ns;

	/* Harts: roles to hart numbers; several roles may share a hart */
	uint32_t harts;
	uint32_t hil_hart;
	uint32_t tsu_count, worker_count;
	uint8_t tsu_hart[HZ_MAX_TSU];       /* channel c belongs to TSU c mod tsu_count */
	uint8_t worker_hart[HZ_MAX_WORKERS];/* queue q (1…) belongs to worker (q-1) mod worker_count */
	uint32_t inflight_requests;         /* request pool; an empty pool leaves commands in their SQ */

	/* Locks */
	uint8_t lock_kind[HZ_MAX_LOCK_CLASSES];   /* enum lt_lock_kind (libthread) by enum hz_lock_class */
	uint32_t lock_shards[HZ_MAX_LOCK_CLASSES];/* instances per class where the class is sharded; 0 = finest (per zone) */
	uint32_t lock_stats;            /* enum hz_lock_stats */

	/* Faults: parts per billion per operation, 0 = never */
	uint32_t program_fail_ppb, erase_fail_ppb, read_fail_ppb;
	uint32_t factory_bad_ppb;       /* chance of a block to be bad when a new image is formatted */
	uint32_t read_retry_ppb;        /* chance that a page read needs a retry; each retry costs one more read time */
	uint32_t read_retries;          /* most retries of one read */
	uint32_t slow_die, slow_percent;/* die slow_die - 1 takes slow_percent of every array time; slow_die 0 = none */
	uint32_t failed_die;            /* die failed_die - 1 answers nothing right any more; 0 = none */

	/* Flash operations beside the plain ones; 0 = none */
	uint32_t schedule;              /* enum hz_schedule */
	uint32_t cache_read;            /* 1: the next read of a die senses while the last one's data leave the cache register */
	uint32_t cache_program;         /* 1: the next program's data come while the last one programs */
	uint32_t cache_busy_ns;         /* page register to cache register or back, per cached operation */
	uint32_t interleave_sectors;    /* a transfer offers the channel to others after so many sectors; 0 = it goes in one piece */
	uint32_t program_passes;        /* passes of a program in normal blocks, each with its data and program_ns[pass]; 0 and 1: one */

	/* Raw bit errors, in 10^-12 of all bits: base + per_erase * e + (e + 1) * (per_hour * hours + per_read * reads); e = erases of
	 * the block, hours since its first program, reads since its erase. Each retry leaves retry_percent of the errors. */
	uint32_t ecc_bits;              /* ECC corrects so many bits of a sector; 0 = no bit errors at all */
	uint32_t rber_base, rber_per_erase, rber_per_hour, rber_per_read;
	uint32_t retry_percent;         /* 0: a retry does not help */
	uint32_t shelf_hours;           /* the image lay without power for so long before this start */

	/* The nth operation of its kind since the start fails; 0 = none */
	uint32_t fail_program_at, fail_erase_at, fail_read_at;

	struct hz_clock_costs clock;

	/* Namespace. Conventional zones take random writes: their sectors are mapped one by one to places in backing superblocks, which the
	 * device fills in order and collects itself. */
	uint32_t namespace_kind;        /* enum hz_namespace_kind */
	uint32_t conventional_zones;    /* the first n zones; a block namespace: ignored, all of them */
	uint32_t conventional_spare;    /* backing superblocks beyond the capacity of the conventional zones: over-provisioning */
	uint32_t conventional_streams;  /* streams of host writes: 1, or 2: hot and cold data apart. The collector has one more */
	uint32_t conventional_buffers;  /* write buffers of their own; fewer than streams + 1: streams take turns */
	uint32_t conventional_gc;       /* enum hz_gc_policy */
	uint32_t conventional_gc_low;   /* collect while fewer backing superblocks are erased */

	uint32_t slc_gc;                /* enum hz_gc_policy, of the SLC region */
	uint32_t slc_gc_low;            /* collect while no more SLC superblocks than these are erased; 0 = 2 */
	uint32_t buffer_idle_ns;        /* a buffer without new data for so long is flushed; 0 = never */

	/* Logical to physical map: 4-byte entries, in flash, with a cache */
	uint32_t l2p_cache_bytes;       /* HZ_MAP_ENTRY_BYTES for each entry; 0 = the whole map is in RAM */
	uint32_t l2p_levels;            /* enum hz_map_level: entries are aggregated up to this level */
	uint32_t l2p_chunk_sectors;     /* power of two; ConZone: 1024 */
	uint32_t l2p_strategy;          /* enum hz_l2p_strategy */
	uint32_t l2p_eviction;          /* enum hz_l2p_eviction */
	uint32_t l2p_prefetch;          /* further entries of a fetched table page that enter the cache with the wanted one */
	uint32_t l2p_buckets;           /* hash buckets; 0 = one per 4 entries, rounded up to a power of two */
	uint32_t l2p_log_entries;       /* changed entries that are collected in RAM before table pages are written */
	uint32_t l2p_log_policy;        /* enum hz_l2p_log_policy */
	uint32_t reserved[14];
};
HZ_STATIC_ASSERT(sizeof(struct hz_device_config) <= 4096, "config fits its page");

/* Derived shape, computed once by both sides with the same code (protocol/geometry.c). */
struct hz_shape {
	uint32_t planes;               /* all planes of the device = columns of a stripe */
	uint32_t page_sectors;
	uint32_t unit_sectors;         /* normal program unit of one plane: program_pages * page_sectors */
	uint32_t slc_pages_per_block;
	uint32_t superpage_sectors;    /* planes * unit_sectors */
	uint32_t superblock_sectors;   /* normal */
	uint32_t slc_superblock_sectors;
	uint32_t slc_superblocks, normal_superblocks;
	uint32_t zones;
	uint64_t zone_size_sectors, zone_capacity_sectors;
	uint64_t namespace_sectors;    /* zones * zone_size_sectors */
	uint32_t conventional_zones;   /* zones 0 … n - 1 */
	uint32_t backing_zones;        /* numbers zones … zones + n - 1, addresses from namespace_sectors on: not visible to the host */
	uint32_t patch_sectors;        /* end of every sequential zone that lies in an SLC superblock reserved for it; 0 = none */
	uint32_t patch_superblocks;    /* the last SLC superblocks, set aside for patches: one per zone and the spare ones; not part of the log */
	uint32_t map_pages_per_zone;   /* table pages of HZ_MAP_PAGE_ENTRIES entries */
	uint32_t map_checkpoints;      /* sectors that say how new the conventional zones' table pages are; 0: map in RAM */
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
/* SLC superblocks that the log needs, so that its writers never wait for ever (firmware/ftl/slc/slc.h). */
uint32_t hz_slc_log_least(const struct hz_device_config *cfg, const struct hz_shape *shape);
#ifdef __cplusplus
}
#endif

#endif
