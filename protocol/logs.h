/* Vendor log pages (NVMe Get Log Page, LID C0h…C5h): every figure of result.json measured by the device. Little-endian. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_LOGS_H
#define HZ_PROTOCOL_LOGS_H

#include "base.h"
#include "thread_logs.h"

enum hz_log_id {
	HZ_LOG_HARTS = 0xc0,    /* struct hz_log_harts */
	HZ_LOG_FLASH = 0xc1,    /* struct hz_log_flash */
	HZ_LOG_LOCKS = 0xc2,    /* struct hz_log_locks + entries */
	HZ_LOG_FTL = 0xc3,      /* struct hz_log_ftl */
	HZ_LOG_IN_PLACE = 0xc4, /* struct hz_log_in_place */
	HZ_LOG_ENERGY = 0xc5,   /* struct hz_log_energy */
};
enum hz_role { HZ_ROLE_HIL = 1, HZ_ROLE_TSU = 2, HZ_ROLE_WORKER = 4 }; /* bits */

struct hz_log_harts {
	uint32_t version, harts;
	uint64_t now_ns;
	struct hz_hart_times hart[HZ_MAX_HARTS];
};

/* Why a flash operation was done. */
enum hz_cause {
	HZ_CAUSE_HOST, /* user data to or from its place in normal flash */
	HZ_CAUSE_SLC,  /* premature flush: user data staged in SLC */
	HZ_CAUSE_FOLD, /* SLC data read back to complete a program unit */
	HZ_CAUSE_GC,   /* migration of valid data */
	HZ_CAUSE_MAP,  /* zone table, mapping pages, logs */
	HZ_CAUSE_PAD,  /* no operations of its own: filler sectors of other causes' programs */
	HZ_CAUSE_RECOVERY,
	HZ_CAUSES
};
struct hz_log_flash {
	uint32_t version, channels;
	uint64_t reads[16], programs[16], erases[16];   /* transactions by cause */
	uint64_t read_sectors[16], program_sectors[16]; /* 4 KiB sectors by cause */
	uint64_t failed_programs, failed_erases, failed_reads;
	uint64_t channel_busy_ns[64];
	uint64_t die_busy_ns_total, dies, elapsed_ns;
	uint64_t multi_plane_ops; /* die operations on more than one plane */
	uint64_t read_retries;    /* sensings beyond the first of each page read; without reads of a mount */
};

struct hz_log_locks {
	uint32_t version, entries, entry_bytes, reserved;
	struct hz_lock_entry entry[];
};

struct hz_log_ftl {
	uint32_t version, reserved;
	uint64_t host_read_sectors, host_write_sectors;
	uint64_t buffer_flushes_full, buffer_flushes_conflict, buffer_flushes_host, buffer_flushes_finish; /* superpage parts by reason */
	uint64_t slc_sectors, fold_sectors, buffer_read_sectors, unmapped_read_sectors;
	uint64_t zone_resets, zone_finishes, slc_gc_runs;
	uint64_t l2p_hits[3], l2p_misses[3]; /* page, chunk, zone level */
	uint64_t waits_buffer;               /* requests parked for a write buffer */
	uint64_t waits_space;                /* zones that waited for buffer memory */
	uint64_t dropped_sectors;            /* buffered sectors never programmed, since their zone was reset */
	uint64_t buffer_flushes_idle;        /* superpage parts: the buffer had no new data for buffer_idle_ns */
	uint64_t slc_gc_sectors;             /* sectors the SLC collector moved */
	/* Map in flash (l2p_cache_bytes > 0). An entry is looked up in the log, then in the cache, then fetched. */
	uint64_t l2p_log_hits;
	uint64_t l2p_fetches, l2p_joined; /* table page reads for misses; misses that joined a running read */
	uint64_t l2p_prefetched, l2p_evictions;
	uint64_t l2p_updates;                          /* entries changed in the log */
	uint64_t l2p_flushes, l2p_table_pages_written; /* of the log; table pages */
	uint64_t l2p_stalls, l2p_stall_ns;             /* zones or requests that waited for room in the log */
	uint64_t l2p_merges;                           /* table page reads of log flushes */
	uint64_t l2p_rebuilt;                          /* rebuilt table pages: unreadable, or RAM had no run for a staged sector */
	/* Map of table pages on flash: look-ups with a hit in the cache; with a fetch (also in l2p_fetches). */
	uint64_t l2p_directory_hits, l2p_directory_misses;
	uint64_t l2p_pins_refused; /* aggregated entries that entered the cache unpinned: pins had reached their share */
	/* Zones moved to another superblock, by cause; sectors copied by that; zones not copied because of a lost sector */
	uint64_t refreshed_reads, refreshed_age, refreshed_wear, refreshed_sectors, refresh_failures;
	/* Conventional zones */
	uint64_t conventional_gc_runs, conventional_gc_sectors; /* backing superblocks collected; sectors moved */
	uint64_t conventional_stalls, conventional_stall_ns;    /* waits of writes for an erased backing superblock */
	uint64_t deallocated_sectors;                           /* conventional sectors removed from the map by deallocations */
	uint64_t copied_sectors;                                /* by Copy, inside the device */
	/* Sequential zones: sectors written in place; such writes refused by the budget; zones moved with their updates; updated sectors
	 * moved. Of random write areas: sectors written again before they were committed; none; commits; sectors committed. */
	uint64_t in_place_sectors, in_place_refusals, update_folds, folded_updates;
	/* Data cache. Parts of requests, one line each: reads with all, some or no sectors there, and a wait for flash for the rest;
	 * writes into a line that was there, or not. Write-backs of lines by cause; sectors written back to write buffers; failed ones.
	 * Requests that waited for a victim. */
	uint64_t cache_read_hits, cache_read_partial, cache_read_misses, cache_write_hits, cache_write_misses;
	uint64_t cache_evicted, cache_flushed, cache_through, cache_background, cache_written_sectors, cache_failures;
	uint64_t cache_waits;
	/* Rain. Sectors of parity programmed; read back for the parity of a row under way, or to rebuild others; sectors rebuilt for reads,
	 * and for moves; lost ones that could not be. Zones that moved since a sector had to be rebuilt. */
	uint64_t parity_sectors, parity_read_sectors, rebuilt_reads, rebuilt_moves, rebuild_failures, refreshed_rebuilt;
};

/* Writes in place: how many sectors may be there at a time, how many are now; the counters of hz_log_ftl. */
struct hz_log_in_place {
	uint32_t version, reserved;
	uint64_t budget_sectors, used_sectors;
	uint64_t written_sectors, refused_writes, folds, folded_sectors;
};

/* First block of the telemetry data (LID 07h): where the log pages lie that were taken together. */
enum { HZ_TELEMETRY_BLOCK = 512 };
struct hz_telemetry_page {
	uint32_t id;    /* of the log page: 02h, C1h, C3h of all namespaces, C4h; C0h, in data area 2 */
	uint32_t block; /* its first, in blocks of 512 bytes from the log's beginning */
	uint32_t bytes;
	uint32_t reserved;
};
struct hz_log_telemetry {
	uint32_t version, pages;
	struct hz_telemetry_page page[5];
};

/* What costs energy, except the harts (C0h) and the host's data (C3h). An operation counts when it begins, once for each of its planes.
 * Without reads of a mount. */
enum hz_cells { HZ_CELLS_SLC, HZ_CELLS_NORMAL, HZ_CELLS_KINDS }; /* of SLC blocks; of the others */
struct hz_log_energy {
	uint32_t version, reserved;
	/* By kind of cells (enum hz_cells): sensings of a page (a retry is another one), programs of a unit, erases of a block. */
	uint64_t reads[2], programs[2], erases[2];
	/* Array time of these, summed over planes. */
	uint64_t read_ns[2], program_ns[2], erase_ns[2];
	uint64_t channel_sectors; /* that crossed a channel; of a program, once for each of its passes */
	/* Reads, programs and erases whose cells had to wait for power (timing.power_planes), and for how long: a multi-plane operation
	 * once, and again for each pass and each resumption. */
	uint64_t held[3], held_ns[3];
};

#endif
