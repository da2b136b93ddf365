/* Private state of the TSU: threads own channels, channels own dies. Only the owning thread's hart touches them while it runs. */
#ifndef TSU_STATE_H
#define TSU_STATE_H

#include "lt/arch.h"
#include "tsu/die_queue.h"
#include "tsu/tsu_usage.h"

/* A die has two registers a plane: the page register works with the cells, the cache register with the channel. `op` owns the page
 * register and the cells, `cached` the cache register: read data on their way out, or data of a program on their way in. Without
 * cached operations at most one of them is there. */
enum die_state {
	DIE_IDLE,
	DIE_WANTS_BUS,      /* something waits; what runs is chosen when the bus is free */
	DIE_LOADING,        /* the cells wait for a program's data */
	DIE_ARRAY,          /* the cells work on op */
	DIE_WANTS_REGISTER, /* read data wait for the cache register, whose last data still cross the bus */
	DIE_SHIFT,          /* read data move into the cache register, so that the cells can go on */
};
enum cache_state {
	CACHE_EMPTY,
	CACHE_WANTS_OUT, CACHE_OUT,  /* data of a read */
	CACHE_WANTS_IN, CACHE_IN,    /* a program's data; wanting: which one is chosen when the bus is free, unless cached is there */
	CACHE_LOADED,                /* the program waits for the cells */
};

struct die_op {
	struct tsu_txn *members;    /* list by next, one per plane */
	uint64_t began_ns;          /* first on the bus; a resumed operation: when it went on */
	uint64_t array_ns, array_end_ns; /* cells work until array_end_ns; suspended: array_ns are left */
	uint64_t first_ns;          /* when the operation began for the first time */
	struct tsu_txn *moving;     /* whose data cross the bus next */
	uint16_t moved;             /* its sectors that have crossed */
	uint8_t pass;               /* of a multi-pass program */
	bool yielded;               /* the bus went to others in the middle of the data */
	bool apart;                 /* it took the cache register while the cells could do something else */
};

/* A command that starts cells goes before data: it takes the bus for an instant and lets another die work meanwhile. Without this,
 * dies that read in step stay in step and leave the bus idle. No starvation: between two commands of a die lies its transfer. */
enum bus_wish { WISH_COMMAND, WISH_DATA };

/* A place in a channel's queue. A die has two: for what it starts next, and for the data of its cache register. */
struct bus_wait {
	struct bus_wait *next;
	struct tsu_die *die;
	uint64_t ready_ns;
};

/* The read that mount has under way on a die; sectors 0: none. */
struct mount_read { uint64_t began_ns, array_end_ns; uint32_t sectors; };

struct tsu_die {
	struct wheel_node write_end; /* array end of a program or erase; comes early if the operation was suspended */
	struct wheel_node read_step; /* array end of a read, or end of its shift */
	struct wheel_node move_step; /* a part of the data has crossed the bus */
	struct wheel_node load_step; /* the cells work on a program: the next one's data may come */
	struct bus_wait start_wait, data_wait;
	struct tsu_thread *thread;
	struct tsu_channel *channel;
	struct die_queue queue;
	struct die_op op, cached;
	struct die_op suspended;     /* members != NULL: a program or erase sleeps while reads run */
	struct mount_read mount;
	struct tsu_usage usage;
	uint8_t state, cache_state;
	bool write_end_pending;      /* write_end is in the wheel */
};

struct tsu_channel {
	struct wheel_node bus_free;  /* while dies wait */
	struct tsu_thread *thread;
	struct wait_fifo { struct bus_wait *head, *tail; } waiting[2]; /* enum bus_wish: in the order in which they were ready */
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
	struct hz_log_flash published; /* of the last tsu_publish */
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
	bool mounted;                /* tsu_read_now takes no time any more */
};

#define TSU_CONTAINER(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}
static inline bool is_read(const struct die_op *op)
{
	return op->members && op->members->op == TSU_READ;
}
static inline bool is_program(const struct die_op *op)
{
	return op->members && op->members->op == TSU_PROGRAM;
}

/* tsu_channel.c: the bus */
/* die_bus_granted follows, now or later. */
void channel_request(struct tsu_channel *channel, struct bus_wait *wait, enum bus_wish wish, uint64_t ready_ns);
void channel_bus_free(struct wheel_node *node);
/* Occupy the bus for ns from start_ns (or when it is free); returns the begin. */
uint64_t channel_use(struct tsu_channel *channel, uint64_t start_ns, uint64_t ns);
/* Would a request at at_ns have to wait? */
bool channel_is_wanted(const struct tsu_channel *channel, uint64_t at_ns);

/* tsu_die.c: the life of an operation */
void die_wake(struct tsu_die *die, uint64_t at_ns);           /* something may be ready at at_ns */
void die_bus_granted(struct bus_wait *wait, uint64_t at_ns);
uint64_t die_array_ns(struct tsu_die *die, const struct die_op *op, uint64_t at_ns); /* with its read retries */
void die_run_cells(struct tsu_die *die, struct die_op *op, uint64_t at_ns); /* a program whose data are there */
void die_write_end(struct wheel_node *node);
void die_read_step(struct wheel_node *node);
void die_next(struct tsu_die *die, uint64_t at_ns);           /* nothing is under way: resume, or start what waits */
void die_used(struct tsu_die *die, const struct die_op *op, uint64_t until_ns);

/* tsu_data.c: data between the channel and the cache register */
void data_load(struct tsu_die *die, struct tsu_txn *members, uint64_t at_ns);
void data_load_again(struct tsu_die *die, uint64_t at_ns);    /* the next pass of die->op */
void data_hold(struct tsu_die *die, bool apart);              /* what die->op has read goes to the cache register */
void data_send(struct tsu_die *die, uint64_t at_ns);          /* and from there to the channel */
void data_granted(struct tsu_die *die, uint64_t at_ns);
void data_step(struct wheel_node *node);

/* tsu_cache.c: cached reads and programs */
bool cache_read_follows(struct tsu_die *die, uint64_t at_ns); /* may the next read sense while the data of die->op go out? */
void cache_shift(struct tsu_die *die, uint64_t at_ns);
void cache_shifted(struct tsu_die *die, uint64_t at_ns);
void cache_wish(struct tsu_die *die, uint64_t at_ns);         /* want the next program's data, if there is one */
void cache_choose(struct tsu_die *die, uint64_t at_ns);       /* the bus is there */
void cache_load_step(struct wheel_node *node);

/* tsu_suspend.c */
void die_suspend(struct tsu_die *die, uint64_t at_ns);        /* for an urgent read that is ready at at_ns, if it may be */
bool die_stays_suspended(const struct tsu_die *die, uint64_t at_ns); /* more reads wait, and its age allows it */
void die_resume(struct tsu_die *die, uint64_t at_ns);

/* tsu_complete.c: effect on the media, counters, and the way back to the owner */
void txn_complete(struct tsu_thread *thread, struct tsu_txn *txn, uint64_t end_ns);

/* tsu_mount.c: a read of mount begins, once its die is free */
void mount_read_time(struct tsu *tsu, struct flash_addr addr, uint32_t sectors);

/* tsu_power.c */
void tsu_power_init(struct tsu_thread *thread);

#endif
