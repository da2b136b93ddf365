/* Fetching: takes commands in turn from non-empty queues and hands them to the device. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_FETCH_H
#define HIL_FETCH_H

#include "hil/queue/completion.h"
#include "hil/queue/command.h"
#include "hil/ports/ports.h"

/* Abort of a command that has arrived and is not fetched yet (base spec 5.1). It is answered behind the command's own completion. */
struct fetch_abort {
	struct lt_event event; /* to the hart of the queue, and back */
	struct fetch *fetch;   /* there */
	const struct lt_thread *home;
	void (*over)(struct lt_event *event); /* on home's hart; `done`: the command has been aborted */
	uint64_t number;                      /* of the command, as submission_queue.fetched counts */
	uint16_t sq, cid;
	bool taken, done;
};

/* Queues that take turns. */
struct fetch_turn {
	unsigned queue;      /* bit of queues.ready_mask */
	unsigned burst_left; /* commands that this queue may still send */
};

/* No namespace is served, and every command but Flush is refused. */
enum fetch_sanitize { FETCH_SERVES, FETCH_SANITIZE_RUNS, FETCH_SANITIZE_FAILED };

struct fetch {
	struct queues *queues;
	struct command_pool *pool;
	struct host_view *view;
	const struct life *life;
	const struct controller_ops *device;
	uint32_t namespaces;
	struct io_limits limits[HZ_MAX_NAMESPACES];
	uint64_t sectors[HZ_MAX_NAMESPACES];                    /* as in limits */
	const struct io_limits *of_nsid[HZ_MAX_NAMESPACES + 1]; /* [0]: for numbers without a namespace; the decoder refuses them */
	struct fetch_turn turn[NVME_QPRIOS];                    /* of the queues of each priority; round robin: the first, of all queues */
	uint32_t arbitration;      /* feature 01h: the burst, and from bit 8 on the weights low, medium, high */
	bool weighted;             /* weighted round robin with urgent class (CC.AMS) */
	unsigned priority;         /* weighted: whose turn it is, of high, medium, low */
	unsigned priority_left;    /* commands that these queues may still send */
	struct fetch_abort *abort; /* its command waits to be fetched; NULL: none does */
	uint8_t sanitize;          /* enum fetch_sanitize */
};

/* queues is initialized; all objects passed by pointer must outlive it, limits[namespaces] are copied. */
void fetch_init(struct fetch *fetch, struct queues *queues, struct command_pool *pool, const struct life *life,
		const struct controller_ops *device, const struct io_limits *limits, uint32_t namespaces);
/* Feature 06h; size of a namespace, whether it is active, and whether a format of it is under way; bits of active ones, bit = number, and
 * in the high half bits of those being formatted, and in the two highest enum fetch_sanitize, which is set before the namespaces. */
void fetch_set_write_cache(struct fetch *fetch, bool on);
void fetch_set_namespace(struct fetch *fetch, uint32_t number, uint64_t sectors, bool active, bool formatting);
uint64_t fetch_served(const struct fetch *fetch);
enum { FETCH_FORMATTING_SHIFT = 32, FETCH_SANITIZE_SHIFT = 62 };
/* The controller was enabled, with weighted round robin or without: features have their defaults again. */
void fetch_reset(struct fetch *fetch, bool weighted);
/* Look at the doorbells: true if a command may be taken. Clock frozen. */
bool fetch_finds(struct fetch *fetch);
/* After that: take the command and others, up to a turn's limit. */
void fetch_commands(struct fetch *fetch);

/* An Abort has come to the queue's hart. */
void fetch_abort_begin(struct lt_event *event);
/* What is not fetched yet never will be. */
void fetch_abort_drop(struct fetch *fetch);

static inline bool fetch_possible(const struct fetch *fetch) { return fetch->pool->free && life_serves(fetch->life); }

#endif
