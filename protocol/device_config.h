/* The whole device as one record: the host parses YAML into it, the firmware reads it at boot and checks it once more.
 *
 * Its members are the keys of device_keys.yaml, with their meanings. Units are in the names. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_DEVICE_CONFIG_H
#define HZ_PROTOCOL_DEVICE_CONFIG_H

#include "base.h"
#include "device_choices.h"
#include "device_limits.h"
#include "thread_logs.h"

#define HZ_CONFIG_MAGIC 0x30474643 /* "CFG0" */
enum {
	HZ_BILLION = 1000000000,
	HZ_CACHE_LEAST_LINES = 16,
	HZ_CACHE_LINE_BYTES = 64,
	HZ_PPA_BITS = 30,           /* a physical sector address with two map bits fits 32 bits */
	HZ_MAP_PAGE_ENTRIES = 1024, /* a table page is one sector: the entries of 4 MiB */
	HZ_MAP_ENTRY_BYTES = 4,
	HZ_ZONE_ENTRY_BYTES = 8,    /* of a map with an entry for each zone */
	HZ_TRIM_PAGE_LBAS = 32768,  /* a bit each, in a sector */
	HZ_CHECKPOINT_PAGES = 1022, /* table pages covered by a checkpoint of one sector */
};

/* Every spin lock belongs to one class; kind and granularity are chosen per class. */
enum hz_lock_class {
#define HZ_LOCK_CLASS(constant, ...) HZ_LC_##constant,
#include "lock_classes.def"
	HZ_LOCK_CLASSES
};

/* Granularity of a class: its number of locks. From 2 on that number, by a hash of the protected object. */
enum hz_lock_granularity {
	HZ_LOCKS_FINE = 0,                        /* one for each protected object */
	HZ_LOCKS_CLASS = 1,                       /* one for all of them */
	HZ_LOCKS_GLOBAL = HZ_MAX_LOCK_SHARDS + 1, /* none of its own: one lock stands for all classes */
};

/* One kind of cell; array index = page type LSB, CSB, MSB, TSB. */
struct hz_region_timing {
	uint32_t read_ns[HZ_PAGE_TYPES];
	uint32_t program_ns[HZ_PAGE_TYPES]; /* programs of several pages: [0] is the whole unit; passes: by pass */
	uint32_t erase_ns;
	uint32_t endurance; /* erases a block survives; 0 = unlimited */
};
HZ_ASSERT_SIZE(struct hz_region_timing, 40);

/* Standard deviations of these times (spread.h); 0: an operation takes exactly its time. */
struct hz_region_sigma {
	uint32_t read_ns[HZ_PAGE_TYPES];
	uint32_t program_ns[HZ_PAGE_TYPES];
	uint32_t erase_ns;
};
HZ_ASSERT_SIZE(struct hz_region_sigma, 36);

/* Costs of the virtual clock in cycles of a hart (meanings and sources: docs/internals/clock-costs.md). The firmware reads mhz and insn, for
 * work of engines that harts do: the host hands all of them to the plugin. */
struct hz_clock_costs {
	uint32_t preset; /* enum hz_clock_preset: source of the costs below unless a file changes them */
	uint32_t mhz;    /* of every hart */
	uint32_t insn, local, remote, far, memory, occupancy, wake, pause, ipi;
	uint32_t data;                               /* enum hz_clock_data */
	uint32_t reads;                              /* enum hz_clock_reads */
	uint32_t cluster, cache_bytes, cache_ways;   /* cluster, cache_bytes 0: none, without limit */
	uint32_t load, store, mul, div, branch, csr; /* beyond insn */
	uint32_t store_buffer;                       /* entries */
	uint32_t clean, dispatch;                    /* 0: as remote; without order */
	uint32_t busy;                               /* enum hz_clock_busy */
	uint32_t lr;                                 /* enum hz_clock_lr */
	uint32_t pause_multiple, div_bit;            /* 0: none */
	uint32_t l2, l2_bytes, l2_ways;              /* l2_bytes 0: there is none */
	uint32_t arbiter;                            /* enum hz_clock_arbiter */
	uint32_t loop_exit;
};
HZ_ASSERT_SIZE(struct hz_clock_costs, 136);

/* What things take; sources: docs/reference/config.md. For the host only. 0 nanojoules: what cells_uw takes for the array time. */
struct hz_energy_costs {
	uint32_t cells_uw;
	uint32_t slc_read_nj, slc_program_nj, slc_erase_nj;
	uint32_t normal_read_nj, normal_program_nj, normal_erase_nj;
	uint32_t channel_pj, link_pj; /* of a byte */
	uint32_t busy_pj, idle_pj;    /* of a hart's cycle */
};
HZ_ASSERT_SIZE(struct hz_energy_costs, 44);

struct hz_device_config {
	uint32_t magic, version, bytes; /* version: hz_config_version() of device_fields.h */
#define HZ_FIELD(type, member, ...) type member;
#define HZ_LIST(type, member, items, ...) type member[items];
#define HZ_RECORD(type, member) type member;
#define HZ_PART(...)
#include "device_fields.def"
#if !__STDC_HOSTED__
	uint32_t power_planes; /* for the model of the flash: the host has checked it, and no hart spends time on it */
#endif
};
/* The record of a device ends where the host's own fields begin: a key more for the host costs the device no time. */
#if __STDC_HOSTED__
enum {
	HZ_DEVICE_BYTES = (offsetof(struct hz_device_config, energy) + 7) & ~7,
	HZ_HOST_FIELDS = 1 + sizeof(struct hz_energy_costs) / sizeof(uint32_t)
};
#else
enum { HZ_DEVICE_BYTES = sizeof(struct hz_device_config), HZ_HOST_FIELDS = 0 };
#endif
/* On both sides: behind all fields that a hart reads, those of build --with included, with padding or none. */
HZ_STATIC_ASSERT(HZ_DEVICE_BYTES - offsetof(struct hz_device_config, power_planes) <= sizeof(uint64_t), "power_planes ends the record");
HZ_STATIC_ASSERT(sizeof(struct hz_device_config) <= 4096, "config fits its page");

#endif
