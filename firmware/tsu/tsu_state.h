/* Private state of the TSU: threads own channels, channels own dies. Only the owning thread's hart touches them while it runs. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_STATE_H
#define TSU_STATE_H

#include "dump_report.h"
#include "logs.h"
#include "lt/engine.h"
#include "tsu/tsu_die.h"
#include "tsu/tsu_limit.h"
#include "tsu/tsu_mount.h"

/* The first part of struct hz_log_energy; the rest is counted by tsu_limit. */
struct tsu_energy {
	uint32_t version, reserved;
	uint64_t reads[2], programs[2], erases[2];
	uint64_t read_ns[2], program_ns[2], erase_ns[2];
	uint64_t channel_sectors;
};

struct tsu_thread {
	struct lt_thread thread;
	struct lt_engine engine; /* dies and channels: due at the wheel's next event */
	struct lt_event reset, power_went, stopped;
	struct wheel_node power_cut;
	struct tsu *tsu;
	unsigned number;
	uint64_t submitted, done, steps;
	uint64_t since_ns; /* begin of the statistics */
	bool dead;         /* power is off: nothing happens any more */
	struct hz_log_flash counters;
	struct hz_log_flash published; /* of the last tsu_publish */
	struct tsu_energy energy, energy_published;
	struct event_wheel wheel;
	struct tsu_limit limit;
	uint8_t **page; /* of sectors: for data of a read with `take` */
};

/* A namespace gets a view: a copy of all constants, with its own map. Changing state is the device's (`whole`), except the reads of its
 * mount. */
struct tsu {
	const struct hz_device_config *cfg;
	const struct flash_map *map;
	struct tsu *whole; /* of the device: the TSU itself */
	uint32_t window;   /* number of the view's namespace */
	struct nand *nand;
	struct tsu_timing timing;
	struct queue_rules rules;
	struct tsu_thread *threads;
	struct tsu_channel *channels;
	struct tsu_die *dies;
	struct tsu_thread *channel_thread[HZ_MAX_CHANNELS];
	uint32_t die_count, dies_per_channel;
	lt_word cut_threads; /* threads with all dies stopped by the power cut */
	lt_word power_went_ns;
	lt_word off; /* 1: a thread is dead */
	struct {
		void (*run)(void *ctx); /* NULL: nothing outlasts a loss of power */
		void *ctx;
		struct hz_dump_report report;
		uint64_t spent_pj; /* without the controller's */
	} dump;
	struct tsu_mount_reads mount_reads;
	bool mounted; /* tsu_read_now takes no time any more */
};

#define TSU_CONTAINER(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

static inline uint64_t latest_ns(uint64_t a, uint64_t b) { return a > b ? a : b; }

#endif
