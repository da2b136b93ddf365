/* Fields of a device with a choice: for each a list X(constant, word in files and results, explanation), in the order of the numbers,
 * and its enumeration. scripts/schema.py reads the lists too. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_DEVICE_CHOICES_H
#define HZ_PROTOCOL_DEVICE_CHOICES_H

#define HZ_ENUMERATOR(constant, word, text) constant,

#define HZ_CELL_LIST(X) \
	X(HZ_CELL_SLC, "slc", "one bit") \
	X(HZ_CELL_MLC, "mlc", "two") \
	X(HZ_CELL_TLC, "tlc", "three") \
	X(HZ_CELL_QLC, "qlc", "four")
enum hz_cell { HZ_CELL_NONE, HZ_CELL_LIST(HZ_ENUMERATOR) }; /* the number of bits */

#define HZ_MEDIA_LIST(X) \
	X(HZ_MEDIA_STORE, "store", "everything") \
	X(HZ_MEDIA_TIMING_ONLY, "timing-only", \
	  "OOB and the data of SLC blocks, where the tables are; those of normal blocks read as zeros, and " \
	  "verification is off")
enum hz_media_mode { HZ_MEDIA_LIST(HZ_ENUMERATOR) HZ_MEDIA_MODES };

/* Order in which consecutive program units visit the planes, fastest first: CWDP = channel, way (chip), die, plane. The 24 permutations in
 * lexicographic order of the letters. */
/* clang-format off */
#define HZ_PLANE_SCHEME_LIST(X) \
	X(HZ_SCHEME_CDPW, "CDPW", "") X(HZ_SCHEME_CDWP, "CDWP", "") X(HZ_SCHEME_CPDW, "CPDW", "") X(HZ_SCHEME_CPWD, "CPWD", "") \
	X(HZ_SCHEME_CWDP, "CWDP", "") X(HZ_SCHEME_CWPD, "CWPD", "") X(HZ_SCHEME_DCPW, "DCPW", "") X(HZ_SCHEME_DCWP, "DCWP", "") \
	X(HZ_SCHEME_DPCW, "DPCW", "") X(HZ_SCHEME_DPWC, "DPWC", "") X(HZ_SCHEME_DWCP, "DWCP", "") X(HZ_SCHEME_DWPC, "DWPC", "") \
	X(HZ_SCHEME_PCDW, "PCDW", "") X(HZ_SCHEME_PCWD, "PCWD", "") X(HZ_SCHEME_PDCW, "PDCW", "") X(HZ_SCHEME_PDWC, "PDWC", "") \
	X(HZ_SCHEME_PWCD, "PWCD", "") X(HZ_SCHEME_PWDC, "PWDC", "") X(HZ_SCHEME_WCDP, "WCDP", "") X(HZ_SCHEME_WCPD, "WCPD", "") \
	X(HZ_SCHEME_WDCP, "WDCP", "") X(HZ_SCHEME_WDPC, "WDPC", "") X(HZ_SCHEME_WPCD, "WPCD", "") X(HZ_SCHEME_WPDC, "WPDC", "")
/* clang-format on */
enum hz_plane_scheme { HZ_PLANE_SCHEME_LIST(HZ_ENUMERATOR) HZ_PLANE_SCHEMES };

/* Scheduling on a die. Priority with read_age_limit_ns 0 is FIFO too. */
#define HZ_SCHEDULE_LIST(X) \
	X(HZ_SCHED_PRIORITY, "priority", "mapping, host reads, host writes, GC, erases; what waited for `read_age_limit` goes first") \
	X(HZ_SCHED_FIFO, "fifo", "in order of arrival") \
	X(HZ_SCHED_FAIR, "fair", "streams take turns by the die time they used; the device's own work is a stream of its own")
enum hz_schedule { HZ_SCHEDULE_LIST(HZ_ENUMERATOR) HZ_SCHEDULES };

#define HZ_OFF_ON_LIST(X) X(HZ_OFF, "off", "") X(HZ_ON, "on", "")
enum hz_off_on { HZ_OFF_ON_LIST(HZ_ENUMERATOR) };

#define HZ_NAMESPACE_LIST(X) \
	X(HZ_NS_ZONED, "zoned", "ZNS: sequential zones, the first `conventional.zones` of them conventional") \
	X(HZ_NS_BLOCK, "block", "the NVM command set alone: every zone is conventional, the host sees no zones (below)")
enum hz_namespace_kind { HZ_NAMESPACE_LIST(HZ_ENUMERATOR) HZ_NAMESPACES };

/* Protection information of each sector (tuple.h). */
#define HZ_PROTECTION_LIST(X) \
	X(HZ_PROTECTION_NONE, "none", "no metadata") \
	X(HZ_PROTECTION_TYPE1, "type1", \
	  "type 1: CRC-16, application tag and reference tag (LBA) of each sector, 8 bytes of metadata in a buffer of their own")
enum hz_protection { HZ_PROTECTION_LIST(HZ_ENUMERATOR) HZ_PROTECTIONS };

#define HZ_BINDING_LIST(X) \
	X(HZ_BIND_MODULO, "modulo", "zone number modulo count, as in ConZone's paper") \
	X(HZ_BIND_FIRST_FREE, "first-free", "any free one; if there is none, the fullest is taken from its zone") \
	X(HZ_BIND_PER_ZONE, "per-zone", "one for each active zone: no fewer than `max_active`")
enum hz_buffer_binding { HZ_BINDING_LIST(HZ_ENUMERATOR) HZ_BINDINGS };

/* When the memory of a programmed superpage is free: for other zones, and for its owner. */
#define HZ_RELEASE_LIST(X) \
	X(HZ_RELEASE_PROGRAMMED, "programmed", "when it has been programmed: what fails is programmed again out of the buffer") \
	X(HZ_RELEASE_TRANSFERRED, "transferred", \
	  "when it is in the registers of the dies; data of a program that fails are read from there; not with `pool`") \
	X(HZ_RELEASE_WHOLE, "whole", \
	  "as `programmed`, and its owner gets its memory back all at once: what is complete is written out together, and the next " \
	  "write-out begins when the last one has ended (ConZone's published code); not with `pool`")
enum hz_buffer_release { HZ_RELEASE_LIST(HZ_ENUMERATOR) HZ_RELEASES };

/* Next owner of a contended buffer. */
#define HZ_HANDOVER_LIST(X) \
	X(HZ_HANDOVER_FAIR, "fair", "who has waited longest") \
	X(HZ_HANDOVER_POLLED, "polled", \
	  "who asks next: each zone asks again every `poll`, as if a dispatcher tried its write again; needs binding `modulo`") \
	X(HZ_HANDOVER_KEPT, "kept", \
	  "who has waited longest, when its owner pauses: what lands in it while it is written out for others stays, and is written out next; " \
	  "others may wait until the owner is full")
enum hz_buffer_handover { HZ_HANDOVER_LIST(HZ_ENUMERATOR) HZ_HANDOVERS };

/* When complete flush units leave a write buffer. */
#define HZ_BUFFER_FLUSH_LIST(X) \
	X(HZ_BUFFER_FLUSH_SHORT, "short", "when the shared memory is short; buffers with memory of their own: as `unit`") \
	X(HZ_BUFFER_FLUSH_UNIT, "unit", "each flush unit at once") \
	X(HZ_BUFFER_FLUSH_SUPERPAGE, "superpage", \
	  "all of a superpage together when it is complete; sooner where somebody waits for memory or for what is in it")
enum hz_buffer_flush { HZ_BUFFER_FLUSH_LIST(HZ_ENUMERATOR) HZ_BUFFER_FLUSHES };

/* Management of the free memory shared by buffers (firmware/ftl/buffer/memory.h). */
#define HZ_BUFFER_SLOTS_LIST(X) \
	X(HZ_SLOTS_ACCOUNTS, "accounts", "counted for each buffer, under one lock; the only way with `plp.bytes`") \
	X(HZ_SLOTS_LOCKED, "locked", "each buffer keeps the slots that it is sure of, the others are in one stack under a lock") \
	X(HZ_SLOTS_SHARDED, "sharded", "… in a stack for each worker, under its lock; who finds none there looks into the others'") \
	X(HZ_SLOTS_LOCK_FREE, "lock-free", "… in one stack without a lock: its head changes by compare-and-swap")
enum hz_buffer_slots { HZ_BUFFER_SLOTS_LIST(HZ_ENUMERATOR) HZ_BUFFER_SLOTS_KINDS };

/* Writes durable at their end, besides those with FUA: power-loss protection. */
#define HZ_PLP_MODE_LIST(X) \
	X(HZ_PLP_NONE, "none", "none; a write that asks for it (`NVME_RW_DURABLE` in CDW3) is refused") \
	X(HZ_PLP_SELECTIVE, "selective", "those that ask for it") \
	X(HZ_PLP_FULL, "full", "all: the device has no volatile write cache")
enum hz_plp_mode { HZ_PLP_MODE_LIST(HZ_ENUMERATOR) HZ_PLP_MODES };

/* Target of protected data at a power cut. */
#define HZ_PLP_FLUSH_LIST(X) \
	X(HZ_PLP_BALANCED, "balanced", "to the dies that are free first, in SLC superblocks kept erased for it") \
	X(HZ_PLP_IN_PLACE, "in-place", "to their place, as far as that takes whole program units, else as `balanced`")
enum hz_plp_flush { HZ_PLP_FLUSH_LIST(HZ_ENUMERATOR) HZ_PLP_FLUSHES };

/* Region of the data of conventional zones. */
#define HZ_REGION_LIST(X) \
	X(HZ_REGION_NORMAL, "normal", "in normal superblocks") \
	X(HZ_REGION_SLC, "slc", \
	  "in SLC superblocks, a share of the region that is theirs: as many as hold the conventional zones, and the spare ones; each has " \
	  "its sectors at its place at once, in units of `slc_program_sectors`")
enum hz_region { HZ_REGION_LIST(HZ_ENUMERATOR) HZ_REGIONS };

/* Victim-selection policies of the garbage collectors. Cost-benefit: Rosenblum and Ousterhout, LFS; u = valid part. The SLC log has no
 * erase counts: only the policies before `wear`. */
#ifdef HZ_WITH_GC_POLICIES
#include HZ_WITH_GC_POLICIES /* ./hartzone build --with: scripts/with.cmake writes it */
#else
#define HZ_WITH_GC_LIST(X)
#define HZ_WITH_GC_FUNCTIONS(X)
#endif
#define HZ_GC_LIST(X) \
	X(HZ_GC_GREEDY, "greedy", "fewest valid sectors") \
	X(HZ_GC_COST_BENEFIT, "cost-benefit", "most (1 − u) / 2u × age, u = valid part") \
	X(HZ_GC_FIFO, "fifo", "oldest") \
	HZ_WITH_GC_LIST(X) \
	X(HZ_GC_WEAR, "wear", "greedy among those not erased more often than the mean")
enum hz_gc_policy { HZ_GC_LIST(HZ_ENUMERATOR) HZ_GC_POLICIES };

#define HZ_L2P_KIND_LIST(X) \
	X(HZ_L2P_KIND_SECTOR, "sector", "each sector: 4 bytes, in RAM or with `cache` in flash") \
	X(HZ_L2P_KIND_ZONE, "zone", \
	  "each sequential zone: 8 bytes, where it begins and how much of it is there, all in RAM (the zone mapping table of ZUFS); not with " \
	  "zones larger than a superblock. Conventional zones have then a map of their own with an entry for each sector, to which `cache` and the keys below it " \
	  "apply")
enum hz_l2p_kind { HZ_L2P_KIND_LIST(HZ_ENUMERATOR) HZ_L2P_KINDS };

#define HZ_L2P_LOOKUPS_LIST(X) \
	X(HZ_LOOKUPS_LOCKED, "locked", \
	  "under the lock of the zone's shard, class `l2p`; if its kind is `seq`, only where a writer is met") \
	X(HZ_LOOKUPS_UNLOCKED, "unlocked", \
	  "without that lock: entries of a sequential zone are protected by the lock of the zone, those of conventional zones are read one by " \
	  "one, and changed by atomic stores")
enum hz_l2p_lookups { HZ_L2P_LOOKUPS_LIST(HZ_ENUMERATOR) HZ_L2P_LOOKUPS };

/* How far entries of contiguous sectors are aggregated: the two map bits of an entry (ConZone, section III-C). */
#define HZ_MAP_LEVEL_LIST(X) X(HZ_MAP_PAGE, "page", "") X(HZ_MAP_CHUNK, "chunk", "") X(HZ_MAP_ZONE, "zone", "")
enum hz_map_level { HZ_MAP_LEVEL_LIST(HZ_ENUMERATOR) HZ_MAP_LEVELS };

/* How a miss finds the level of its entry (ConZone, sections III-C and IV-D). */
#define HZ_L2P_STRATEGY_LIST(X) \
	X(HZ_L2P_BITMAP, "bitmap", "the map bits of all entries are in RAM: one fetch, of the right level") \
	X(HZ_L2P_MULTIPLE, "multiple", "fetches the zone's first entry, looks at its bits, then the chunk's, then the page's") \
	X(HZ_L2P_PINNED, "pinned", "aggregated entries enter the cache when they are made and stay: what misses is a page entry")
enum hz_l2p_strategy { HZ_L2P_STRATEGY_LIST(HZ_ENUMERATOR) HZ_L2P_STRATEGIES };

#define HZ_L2P_EVICTION_LIST(X) \
	X(HZ_L2P_LRU, "lru", "the one that was used longest ago") \
	X(HZ_L2P_CLOCK, "clock", "nearly that: a hit sets a bit instead of moving the entry in a list")
enum hz_l2p_eviction { HZ_L2P_EVICTION_LIST(HZ_ENUMERATOR) HZ_L2P_EVICTIONS };

#define HZ_L2P_LOG_POLICY_LIST(X) \
	X(HZ_L2P_LOG_BACKGROUND, "background", "from half full on; writes wait only when it is full") \
	X(HZ_L2P_LOG_BLOCKING, "blocking", "when it is full; writes wait until it is empty")
enum hz_l2p_log_policy { HZ_L2P_LOG_POLICY_LIST(HZ_ENUMERATOR) HZ_L2P_LOG_POLICIES };

#define HZ_L2P_DIRECTORY_LIST(X) \
	X(HZ_L2P_DIRECTORY_RAM, "ram", "in RAM: a miss reads one table page") \
	X(HZ_L2P_DIRECTORY_FLASH, "flash", \
	  "in pages on flash, whose entries share the cache, as the first level (L1) of a conventional UFS: a miss may read two. With " \
	  "`compress`, an entry says itself where the 4 MiB of a table page lie. Conventional sectors and one shard only")
enum hz_l2p_directory { HZ_L2P_DIRECTORY_LIST(HZ_ENUMERATOR) HZ_L2P_DIRECTORIES };

/* Victim selection of the data cache. */
#define HZ_CACHE_EVICTION_LIST(X) \
	X(HZ_CACHE_LRU, "lru", "the one that was used longest ago") \
	X(HZ_CACHE_CLOCK, "clock", "nearly that: a hit sets a bit instead of moving the line in a list")
enum hz_cache_eviction { HZ_CACHE_EVICTION_LIST(HZ_ENUMERATOR) HZ_CACHE_EVICTIONS };

/* Who does what hardware can do (firmware/boundary/boundary.h). */
#define HZ_BY_LIST(X) \
	X(HZ_BY_ENGINE, "engine", "an engine of the controller, at no cost for a hart") \
	X(HZ_BY_FIRMWARE, "firmware", "the hart that needs it")
enum hz_by { HZ_BY_LIST(HZ_ENUMERATOR) HZ_BYS };

#define HZ_ARCHITECTURE_LIST(X) \
	X(HZ_ARCH_PIPELINE, "pipeline", "HIL harts fetch and complete the commands that workers run") \
	X(HZ_ARCH_COMPLETION, "completion", \
	  "run to completion: each worker fetches, runs and completes the commands of its queue pairs; the HIL hart has the admin pair " \
	  "and the doorbells")
enum hz_architecture { HZ_ARCHITECTURE_LIST(HZ_ENUMERATOR) HZ_ARCHITECTURES };

#define HZ_ROUTING_LIST(X) \
	X(HZ_ROUTE_QUEUE, "queue", "the worker of its queue pair, whatever zone it is about: workers meet at locks") \
	X(HZ_ROUTE_OWNER, "owner", \
	  "the worker that owns the zone of its first LBA, and the shard of the map where there are as many shards as workers: commands " \
	  "travel instead of locks; those about all zones, Flush and Dataset Management stay with their queue")
enum hz_routing { HZ_ROUTING_LIST(HZ_ENUMERATOR) HZ_ROUTINGS };

#define HZ_LOCK_STATS_LIST(X) X(HZ_STATS_OFF, "off", "") X(HZ_STATS_CONTENDED, "contended", "") X(HZ_STATS_ALL, "all", "")
enum hz_lock_stats { HZ_LOCK_STATS_LIST(HZ_ENUMERATOR) HZ_STATS_LEVELS };

#define HZ_CLOCK_PRESET_LIST(X) \
	X(HZ_CLOCK_FREE, "free", "a control: round costs of no chip, and plain data cost their instruction only") \
	X(HZ_CLOCK_IDEAL, "ideal", "no coherence costs: `local`, `remote`, `far`, `memory`, `occupancy`, `l2` and `ipi` are 0") \
	X(HZ_CLOCK_PLAIN, "plain", "`free`, but plain data move too") \
	X(HZ_CLOCK_SINGLE, "single", \
	  "a single-issue in-order core: `small`, and what classes of instructions take if each result is wanted at once") \
	X(HZ_CLOCK_SMALL, "small", "a small in-order controller: `plain` with private caches and memory behind them") \
	X(HZ_CLOCK_CLUSTERED, "clustered", "`small` with clusters of four harts, far from each other") \
	X(HZ_CLOCK_SERVER, "server", "a processor of a server with two sockets") \
	X(HZ_CLOCK_ROCKET, "rocket", "the defaults of this table: costs measured on the RTL of a Rocket of four cores") \
	X(HZ_CLOCK_MANYCORE, "manycore", "many simple cores on a mesh: Xeon Phi 7210, as in DeepFlash's experiments") \
	X(HZ_CLOCK_ARM, "arm", "many fast cores on a mesh: Graviton2, with Neoverse N1")
#define HZ_CLOCK_DATA_LIST(X) \
	X(HZ_DATA_FREE, "free", "plain loads and stores cost their instruction only") \
	X(HZ_DATA_MOVES, "moves", "they fetch lines as synchronising accesses do, but wait for no busy one") \
	X(HZ_DATA_ORDERED, "ordered", "one that must fetch its line is an order point and waits for it, too")
#define HZ_CLOCK_READS_LIST(X) X(HZ_READS_QUEUE, "queue", "one after the other") X(HZ_READS_MERGE, "merge", "side by side")
#define HZ_CLOCK_BUSY_LIST(X) \
	X(HZ_BUSY_OCCUPANCY, "occupancy", "for `occupancy` cycles from the beginning of the transfer") \
	X(HZ_BUSY_ACCESS, "access", "until the access that it is for is done, which then takes `local` after the transfer")
#define HZ_CLOCK_LR_LIST(X) X(HZ_LR_READ, "read", "as a read") X(HZ_LR_WRITE, "write", "for itself alone, as a write")
enum hz_clock_busy { HZ_CLOCK_BUSY_LIST(HZ_ENUMERATOR) HZ_CLOCK_BUSIES };
#define HZ_CLOCK_ARBITER_LIST(X) \
	X(HZ_ARBITER_ARRIVAL, "arrival", "that which was asked for first") \
	X(HZ_ARBITER_TURNS, "turns", \
	  "that of the next hart by number, downward from the one whose transfer began last: a round-robin arbiter")
enum hz_clock_arbiter { HZ_CLOCK_ARBITER_LIST(HZ_ENUMERATOR) HZ_CLOCK_ARBITERS };
enum hz_clock_lr { HZ_CLOCK_LR_LIST(HZ_ENUMERATOR) HZ_CLOCK_LRS };
enum hz_clock_reads { HZ_CLOCK_READS_LIST(HZ_ENUMERATOR) HZ_CLOCK_READERS };

enum hz_clock_data { HZ_CLOCK_DATA_LIST(HZ_ENUMERATOR) HZ_CLOCK_DATAS };

enum hz_clock_preset { HZ_CLOCK_PRESET_LIST(HZ_ENUMERATOR) HZ_CLOCK_PRESETS };

#endif
