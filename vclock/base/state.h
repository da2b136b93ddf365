/* The state of one run: harts, their place in the order, and the flags that invalidate the run.
 * QEMU calls back without a context, so there is one instance (vc), set up by plugin.c.
 *
 * Writers: a hart's own thread writes its struct vc_hart while it runs; while it is blocked, the
 * token holder may. vc.lock protects key[], state, holder, phase and everything about granting.
 * Line table, order hash and statistics belong to the token holder. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_BASE_STATE_H
#define VCLOCK_BASE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "device_config.h"
#include "options.h"
#include "vclock_abi.h"

#define VC_NEVER UINT64_MAX
enum { VC_HART_BITS = 6, VC_MAX_HARTS = 1 << VC_HART_BITS };

enum vc_hart_state {
	VC_OFF,     /* has not reached its first instruction */
	VC_READY,   /* blocked at a sync point until its key is the smallest */
	VC_RUN,     /* holds the token */
	VC_LOOKING, /* blocked until its key is the smallest; ready() then decides between running and parking */
	VC_PARKED,  /* blocked until a reservation breaks, a wake comes or a deadline passes */
	VC_WFI,     /* halted by WFI: outside the order until its next sync point */
	VC_STOPPED, /* QEMU stopped the vCPU */
	VC_LOOSE,   /* runs without the token (after stop, rescue or WFI) until its next sync point */
};

enum vc_phase {
	VC_STARTING, /* harts gather at the gate */
	VC_RUNNING,
	VC_DRAINING, /* QEMU stops its vCPUs: blocked harts resume one by one, unordered, so that each reaches the stop */
};

/* Kinds of synchronisation instruction, also the causes of switches. Values enter the order hash: append only. */
enum vc_kind {
	VC_AMO,
	VC_LR,
	VC_SC,
	VC_WRS_NTO,
	VC_WRS_STO,
	VC_PAUSE,
	VC_SYNC,
	VC_NOW,
	VC_WAIT,
	VC_WAKE,
	VC_FREEZE,
	VC_THAW,
	VC_HOST_WAIT,
	VC_CHARGE,
	VC_HOST_WAKE,
	VC_END,
	VC_WFI_INSN,
	VC_GATE,
	VC_FENCE,
	VC_TAKE,
	VC_WINDOW,
	VC_COPY,
	VC_FILL,
	VC_LANES,
	VC_LOCK,
	VC_SPAN,
	VC_HAD,
	VC_REQUEST,
	VC_STAY,
	VC_LOOK,
	VC_LOOKED,
	VC_DATA,
	VC_NATIVE,
	VC_KINDS,
	VC_PLAIN = VC_KINDS,
};

/* Origin of a fetched line. */
enum vc_source {
	VC_NEAR,   /* a hart of the same cluster, line dirty */
	VC_CLEAN,  /* … line clean */
	VC_FAR,    /* a hart of another cluster */
	VC_L2,     /* no hart holds it; the shared cache does */
	VC_MEMORY, /* neither a hart nor the shared cache holds it */
	VC_SOURCES,
};

/* Reasons that invalidate a run as a measurement. */
enum vc_flag {
	VC_FLAG_STOPPED,
	VC_FLAG_FLUSHED,
	VC_FLAG_RESCUED,
	VC_FLAG_WFI_WOKE,
	VC_FLAG_RESET,
	VC_FLAG_UNFROZEN_HOST_WAIT,
	VC_FLAGS,
};

/* An LR and the SC that may follow. */
struct vc_pair {
	uint64_t address, found; /* the LR's word, and the value found */
	uint64_t held;           /* … and the value stored there, while it is hidden */
	unsigned bytes;
	bool open;   /* QEMU would let an SC to that word try */
	bool stores; /* this SC stores */
	bool hidden; /* the word holds ~found until it has executed */
};

/* line.h */
struct vc_store_buffer {
	uint64_t done[HZ_MAX_STORE_BUFFER]; /* a ring of completion times of the stores that the hart did not wait for; ascending */
	unsigned oldest, used;
	uint64_t entered, waited; /* stores entered; cycles spent waiting for room or for an empty buffer */
};

struct vc_hart {
	_Alignas(64)
		uint64_t *retired; /* QEMU's inline counters: instructions; cycles of their classes (guest/cpu.h) that are not in base */
	uint64_t base, mark;       /* clock = base + (retired[0] - mark) * insn + retired[1] while not frozen, base while frozen */
	uint64_t skipped;          /* instructions retired inside freezes before mark: they are not counted */
	_Atomic uint64_t limit;    /* smallest key of all other harts: below it the holder passes sync points freely */
	uint64_t stalled, charged,
		waited;  /* part of the clock's cycles not spent by instructions: vc_charge, HZ_VC_CHARGE, vc_clock_raise */
	uint32_t frozen; /* depth of HZ_VC_FREEZE */
	uint32_t index;
	enum vc_hart_state state;
	bool reserved;     /* LR reservation intact on reserved_line */
	bool wake_pending; /* an HZ_VC_WAKE came while the hart was not waiting; takes effect at wake_at */
	bool in_wfi;       /* the last synchronisation instruction was WFI */
	bool woke;         /* resumed from a WFI that halted it */
	bool drained;      /* released by a drain or rescue: the wake was spurious */
	bool glances;      /* race check: HZ_VC_LOOK, and no HZ_VC_LOOKED since */
	bool stays;        /* HZ_VC_STAY: plain accesses are no sync points */
	uint64_t reserved_line;
	uint64_t reserved_address;
	struct vc_pair pair;
	uint64_t wake_at;
	uint64_t deadline;                /* of the current wait, in cycles; VC_NEVER: none */
	uint64_t *word;                   /* of HZ_VC_TAKE, in guest RAM */
	bool (*ready)(struct vc_hart *h); /* VC_LOOKING: called under the lock while the token is free */
	uint64_t wait_pc;                 /* last instruction that blocked the hart */
	enum vc_kind wait_kind;
	struct hz_vc_slot *slot;
	uint64_t freeze_pc;                         /* address at which the current freeze began */
	uint64_t looked_at;                         /* while frozen: address of the last synchronising access, */
	uint32_t looks;                             /* and its repetitions in a row */
	uint64_t random;                            /* option jitter: state of the hart's draws, */
	uint64_t jittered;                          /* and instructions counted at the last draw */
	uint64_t fetches[VC_SOURCES], fetch_cycles; /* option data: lines that plain accesses fetched, outside freezes */
	struct vc_store_buffer stores;              /* option store_buffer */
	int tid;
	uint64_t retired_seen; /* instruction count and waits for the host at the watchdog's last poll */
	_Alignas(64) _Atomic uint32_t go;
};

struct vclock {
	struct vc_options options;
	unsigned harts, inited, entered;
	pthread_mutex_t lock;
	enum vc_phase phase;
	bool ended;                 /* END, deadlock or a fatal error: measuring has stopped */
	int holder;                 /* hart with the token or -1 */
	int exit_code;              /* of QEMU, unless 0 */
	const char *end;            /* reason of the run's end, for the report */
	uint64_t key[VC_MAX_HARTS]; /* clock << VC_HART_BITS | hart; VC_NEVER: cannot be granted */
	struct vc_hart hart[VC_MAX_HARTS];
	void *ram; /* guest RAM */
	uint64_t ram_bytes;
	void *shm; /* ivshmem #0 or NULL */
	uint64_t order_hash, orders;
	int last;                    /* hart of the last sync point, -1: none yet */
	uint64_t switches[VC_KINDS]; /* sync points whose predecessor was another hart's */
	uint64_t parks, wakes;       /* outside freezes */
	uint64_t hand_overs, host_waits, host_wakes, bulk_bytes, native_calls;
	uint64_t started_host_ns;
	_Atomic uint64_t flags[VC_FLAGS];
};

extern struct vclock vc;

/* Names of enum vc_kind and enum vc_flag in reports. */
const char *vc_kind_name(enum vc_kind kind);
const char *vc_flag_name(enum vc_flag flag);
/* Count an event that invalidates the measurement; no effect outside the measured part. */
void vc_flag_run(enum vc_flag flag);
/* One line on stderr, prefixed "vclock: ". */
void vc_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
