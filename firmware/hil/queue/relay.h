/* HIL harts: grants from the first to the others, and their reports. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_QUEUE_RELAY_H
#define HIL_QUEUE_RELAY_H

#include "device_config.h"
#include "hil/host/host.h"
#include "hil/queue/fetch.h"
#include "hil/queue/queues.h"

/* Relay: messages between the first HIL hart (the home) and another one (far) about the queue pairs of the far one.
 *
 * The home looks at the host for all queues, since register link, admin queue and the host's promises meet there. It *grants* arrived
 * commands to the far hart; the far hart reports completions. Each side has a copy of the queue objects, and shared words carry the
 * changes. Hardware does all of it in this model: with the clock frozen, so it takes no device time. */

struct io_counts;

enum { RELAY_ERRORS = 256 };

/* Ends the sleep of a HIL hart. Any hart may ring. */
struct bell {
	struct lt_event event;
	struct lt_thread thread;
	LT_OWN_LINE lt_word rung; /* the event is on its way */
};

void bell_init(struct bell *bell, unsigned hart);
/* Any hart. Stores before it are visible to a hart that has heard the bell. */
void bell_ring(struct bell *bell);
/* The bell's hart, after lt_hart_wait: true if the bell and nothing else has come. It is heard then, without an event. */
bool bell_heard(struct bell *bell);

struct relay_error {
	uint16_t sq, cid, status;
	uint32_t nsid;
	uint64_t lba;
};

struct relay {
	unsigned number; /* from 0 on, the home not counted */
	struct relays *relays;
	struct queues *queues; /* the far hart's; the home fills an object before its first grant */
	struct fetch *fetch;   /* … for an Abort sent there */
	struct bell bell;      /* of the far hart */
	/* Written by the home. Masks: bit i is queue i + 1; a reader takes the bits. */
	LT_OWN_LINE lt_word granted_mask; /* submission queues with further commands */
	lt_word roomy_mask;               /* completion queues with more room */
	lt_word order;                    /* number of changes of the words below */
	lt_word life_number, life_state;  /* state, above it the shutdown */
	lt_word write_cache, arbitration; /* features */
	lt_word weighted;                 /* CC.AMS */
	lt_word served;                   /* fetch_served */
	lt_word sectors[HZ_MAX_NAMESPACES];
	lt_word errors_taken;
	/* Written by the far hart. */
	LT_OWN_LINE lt_word posted_mask; /* submission queues with further completions */
	lt_word left_mask;               /* … with all completions done */
	lt_word full_mask;               /* completion queues without room */
	lt_word vectors[2];              /* interrupts to be raised */
	lt_word obeyed;                  /* the last order that admitted nothing, once nothing is in flight */
	lt_word counts[4];               /* the members of struct io_counts */
	lt_word errors;                  /* ever reported */
	lt_word errors_missed;           /* … not in error[], since it was full */
	lt_word media_errors_missed;     /* … of them because of the media */
	struct relay_error error[RELAY_ERRORS];
	struct {
		LT_OWN_LINE lt_word granted, freed; /* by the home: commands ever, entries ever */
		uint64_t posted_heard, left_heard;  /* the home's own */
		LT_OWN_LINE lt_word posted, left;   /* by the far hart: completions ever */
	} queue[QUEUES];
};

/* The home's side. */
struct relays {
	struct bell bell;   /* of the home */
	uint32_t in_device; /* granted commands still in the device, since the controller was enabled */
	unsigned count;     /* far harts */
	struct relay *relay[HZ_MAX_WORKERS];
	struct relay *of[QUEUES]; /* by completion queue; NULL: the home's */
	struct interrupts *irq;
	LT_OWN_LINE lt_word news; /* bit = number of a relay with news */
};

/* Before the harts run. */
void relays_init(struct relays *relays, struct arena *arena, const struct hz_device_config *cfg, struct interrupts *irq);

/* The functions below are called on the home. */

/* The relay to cq's hart, NULL if that is the home. */
struct relay *relay_of(const struct relays *relays, const struct completion_queue *cq);
/* A new submission queue `id`. */
void relay_clear(struct relay *relay, unsigned id);
/* The hart of the far queue sq may fetch `count` commands more. Clock frozen. */
void relay_grant(struct relays *relays, struct submission_queue *sq, uint32_t count);
/* The host has consumed entries of the far queue cq up to cq->ring.freed. Clock frozen. */
void relay_room(struct relays *relays, struct completion_queue *cq);
/* Take up the reports of far harts; there are some. queues is the home's. Clock frozen. */
void relays_take_news(struct relays *relays, struct queues *queues, const struct life *life);
/* The same, if there is any. */
static inline void relays_hear(struct relays *relays, struct queues *queues, const struct life *life)
{
	if (relays->count && lt_load(&relays->news))
		relays_take_news(relays, queues, life);
}
/* The part of it about completions: for a caller that sees more consumed by the host than reported posted. */
void relay_hear_posted(struct relay *relay, struct queues *queues);
struct relay_settings {
	uint32_t arbitration; /* feature 01h */
	bool weighted;        /* CC.AMS */
	uint64_t served;
	bool write_cache;
	const uint64_t *sectors; /* of each namespace */
};
/* Tells all far harts of a change of life or settings. */
void relays_order(struct relays *relays, const struct life *life, struct relay_settings settings);
/* After an order that admits no command: true if far harts have nothing in flight any more. */
bool relays_obeyed(const struct relays *relays);
/* Add the counters of far harts. */
void relays_add_counts(const struct relays *relays, struct io_counts *sum);
/* Add the errors of far harts not reported one by one. */
void relays_add_missed(const struct relays *relays, uint64_t *errors, uint64_t *media_errors);

/* The host's queues on a HIL hart other than the first: grants from the first one (relay.h), under either clock. */

struct far_view {
	struct host_view view;
	struct relay *relay;
	struct queues *queues;
	struct completion *completion;
	struct fetch *fetch;
	struct interrupts irq;      /* raised here, sent by the home */
	struct life life;           /* as the home has ordered */
	struct queue_client client; /* notices of the queues here go to the home */
	uint64_t order;             /* the last one applied */
};

/* Before completion and fetch, since they use view, life, irq and client; objects passed by pointer must outlive it. dated: as the first
 * hart's view. */
void far_view_init(struct far_view *far, struct relay *relay, struct queues *queues, struct completion *completion, struct fetch *fetch,
		   bool dated);

#endif
