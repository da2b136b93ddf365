/* Private state of the TSU: threads own channels, channels own dies. Only the owning thread's hart touches them while it runs. */
#ifndef TSU_STATE_H
#define TSU_STATE_H

#include "lt/arch.h"
#include "tsu/die_queue.h"
#include "tsu/tsu_usage.h"

enum die_state {
	DIE_IDLE,
	DIE_WANTS_BUS,      /* something waits; what runs is chosen when the bus is free */
	DIE_ARRAY,          /* the cells work on op */
	DIE_WANTS_TRANSFER, /* read data wait in the page registers for the bus */
	DIE_TRANSFER,       /* read data cross the bus, one member after the other */
};

struct die_op {
	struct tsu_txn *members;    /* list by next, one per plane */
	uint64_t began_ns;          /* first on the bus; a resumed operation: when it went on */
	uint64_t array_ns, array_end_ns; /* cells work until array_end_ns; suspended: array_ns are left */
	uint64_t first_ns;          /* when the operation began for the first time */
};

struct tsu_die {
	struct wheel_node write_end; /* array end of a program or erase; comes early if the operation was suspended */
	struct wheel_node read_step; /* array end or transfer end of a read */
	struct tsu_die *next;        /* waiting for the bus */
	struct tsu_thread *thread;
	struct tsu_channel *channel;
	struct die_queue queue;
	struct die_op op, suspended; /* suspended.members != NULL: a program or erase sleeps while reads run */
	struct tsu_usage usage;
	uint64_t bus_ready_ns;
	uint8_t state;               /* enum die_state */
	bool write_end_pending;      /* write_end is in the wheel */
};

/* A command that starts cells goes before data: it takes the bus for an instant and lets another die work meanwhile. Without this,
 * dies that read in step stay in step and leave the bus idle. No starvation: between two commands of a die lies its transfer. */
enum bus_wish { WISH_COMMAND, WISH_DATA };

struct tsu_channel {
	struct wheel_node bus_free;  /* while dies wait */
	struct tsu_thread *thread;
	struct die_fifo { struct tsu_die *head, *tail; } waiting[2]; /* enum bus_wish: dies in the order in which they were ready */
	struct tsu_usage usage;
	bool armed;
};

struct tsu_thread {
	struct lt_thread thread;
	struct lt_timer timer;       /* at the wheel's next event */
	uint64_t armed_ns;
	struct lt_event start, reset;
	struct wheel_node power_cut;
	struct tsu *tsu;
	uint64_t submitted, done, steps;
	uint64_t since_ns;           /* begin of the statistics */
	bool dead;                   /* power is off: nothing happens any more */
	struct hz_log_flash counters;
	struct event_wheel wheel;
};

struct tsu {
	const struct hz_device_config *cfg;
	const struct flash_map *map;
	struct nand *nand;
	struct tsu_timing timing;
	struct queue_rules rules;
	struct tsu_thread *threads;
	struct tsu_channel *channels;
	struct tsu_die *dies;
	uint8_t channel_thread[HZ_MAX_CHANNELS];
	uint32_t die_count, dies_per_channel;
	lt_word cut_threads;         /* threads whose dies have lost power */
};

#define TSU_CONTAINER(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

/* tsu_channel.c: the bus */
/* die_bus_granted follows, now or later. */
void channel_request(struct tsu_channel *channel, struct tsu_die *die, enum bus_wish wish, uint64_t ready_ns);
void channel_bus_free(struct wheel_node *node);
/* Occupy the bus for ns from start_ns (or when it is free); returns the begin. */
uint64_t channel_use(struct tsu_channel *channel, uint64_t start_ns, uint64_t ns);

/* tsu_die.c: the life of an operation */
void die_wake(struct tsu_die *die, uint64_t at_ns);           /* something may be ready at at_ns */
void die_bus_granted(struct tsu_die *die, uint64_t at_ns);
void die_write_end(struct wheel_node *node);
void die_read_step(struct wheel_node *node);
void die_finish(struct tsu_die *die, uint64_t at_ns);         /* op is over; look for the next one */

/* tsu_suspend.c */
void die_suspend_for(struct tsu_die *die, const struct tsu_txn *read);
bool die_stays_suspended(const struct tsu_die *die, uint64_t at_ns); /* more reads wait, and its age allows it */
void die_resume(struct tsu_die *die, uint64_t at_ns);

/* tsu_complete.c: effect on the media, counters, and the way back to the owner */
void txn_complete(struct tsu_thread *thread, struct tsu_txn *txn, uint64_t end_ns);

/* tsu_power.c */
void tsu_power_init(struct tsu_thread *thread);

#endif
