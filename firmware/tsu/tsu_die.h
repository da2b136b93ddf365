/* The stages of a die's operation: bus, cells, bus again for reads, done. Hardware: all of it runs with the clock frozen (tsu_internal.h). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_DIE_H
#define TSU_DIE_H

#include "tsu/die_queue.h"
#include "tsu/tsu_channel.h"

/* A die has two registers a plane: the page register works with the cells, the cache register with the channel. `op` owns the page
 * register and the cells, `cached` the cache register: read data on their way out, or data of a program on their way in. Without
 * cached operations at most one of them is there. */
enum die_state {
	DIE_IDLE,
	DIE_WANTS_BUS,      /* something waits; the operation is chosen when the bus is free */
	DIE_LOADING,        /* the cells wait for a program's data */
	DIE_ARRAY,          /* the cells work on op */
	DIE_WANTS_REGISTER, /* read data wait for the cache register, since its last data still cross the bus */
	DIE_SHIFT,          /* read data move into the cache register, so that the cells can continue */
};
enum cache_state {
	CACHE_EMPTY,
	CACHE_WANTS_OUT,
	CACHE_OUT, /* data of a read */
	CACHE_WANTS_IN,
	CACHE_IN,     /* a program's data; wanting: the program is chosen when the bus is free, unless `cached` is set */
	CACHE_LOADED, /* the program waits for the cells */
};

struct die_op {
	struct tsu_txn *members;         /* list by next, one per plane */
	uint64_t began_ns;               /* first on the bus; a resumed operation: when it went on */
	uint64_t array_ns, array_end_ns; /* cells work until array_end_ns; suspended: array_ns are left */
	uint64_t first_ns;               /* when the operation began for the first time */
	struct tsu_txn *moving;          /* next to cross the bus */
	uint16_t moved;                  /* its sectors that have crossed */
	uint8_t pass;                    /* of a multi-pass program */
	bool yielded;                    /* the bus went to others in the middle of the data */
	bool apart;                      /* it took the cache register while the cells could do something else */
};

/* The read that mount has in flight on a die, and the next one: of pages of one number, on planes in parallel. */
struct mount_read {
	uint64_t began_ns, array_end_ns, transfer_ns;
	bool begun;
	bool closed;            /* no page joins the next read: it begins when the die is free */
	uint64_t closed_ns;     /* when that was known */
	uint64_t array_ns;      /* of the next read; so are the rest */
	uint32_t pages, planes; /* how many pages, 0: there is none; bits of the planes */
	uint32_t block, page;
	uint32_t bytes; /* across the channel */
};

struct tsu_die {
	struct wheel_node write_end; /* array end of a program or erase; comes early if the operation was suspended */
	struct wheel_node read_step; /* array end of a read, or end of its shift */
	struct wheel_node move_step; /* a part of the data has crossed the bus */
	struct wheel_node load_step; /* the cells work on a program: the next one's data may come */
	struct wheel_node tell_step; /* they begin: `loaded` of the program is called */
	struct tsu_txn *loading;     /* members of that program */
	struct bus_wait start_wait;  /* of the next operation */
	struct bus_wait data_wait;   /* for the data of the cache register */
	struct tsu_thread *thread;
	struct tsu_channel *channel;
	struct die_queue queue;
	struct die_op op, cached;
	struct die_op suspended; /* members != NULL: a program or erase sleeps while reads run */
	struct mount_read mount;
	struct tsu_usage usage;
	struct tsu_luck luck;
	uint8_t state, cache_state;
	bool write_end_pending; /* write_end is in the wheel */
};

static inline bool op_is_read(const struct die_op *op) { return op->members && op->members->op == TSU_READ; }
static inline bool op_is_program(const struct die_op *op) { return op->members && op->members->op == TSU_PROGRAM; }

/* arena: of the queue. */
void die_init(struct tsu_die *die, struct arena *arena, struct tsu_channel *channel, uint32_t die_index, uint64_t now_ns);
/* Something may be ready at at_ns. */
void die_wake(struct tsu_die *die, uint64_t at_ns);
/* The die is idle: resume, or start the next operation. */
void die_next(struct tsu_die *die, uint64_t at_ns);
/* Start the cells on a program with its data loaded. */
void die_run_cells(struct tsu_die *die, struct die_op *op, uint64_t at_ns);
/* How long the cells work, with read retries. */
uint64_t die_array_ns(struct tsu_die *die, const struct die_op *op, uint64_t at_ns);
/* When there is power for the cells to work on die->op for its array_ns; at_ns or later. */
uint64_t die_power_ns(struct tsu_die *die, uint64_t at_ns);
/* write_end fires when die->op, a program or erase, ends. */
void die_await_write_end(struct tsu_die *die);
/* Before the commands of these cross the bus: when they can, for a hart may have to see to them first. */
uint64_t die_sequence(const struct tsu_txn *members, uint64_t at_ns);
/* Account of op's time on the die. */
void die_used(struct tsu_die *die, const struct die_op *op, uint64_t until_ns);

#endif
