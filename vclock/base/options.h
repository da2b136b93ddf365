/* Options of the plugin: key=value words on QEMU's -plugin argument, checked once, echoed into the report. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCLOCK_BASE_OPTIONS_H
#define VCLOCK_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VC_PIN_OFF = -1, VC_PIN_AUTO = -2 };
enum { VC_ANY_CLASS = 16 };
enum vc_switch { VC_SWITCH_AUTO, VC_SWITCH_USER, VC_SWITCH_FUTEX };

/* Costs in cycles of the hart's clock; sources and meaning: docs/internals/clock-costs.md. */
struct vc_costs {
	uint64_t insn;                               /* every retired instruction */
	uint64_t local;                              /* synchronising access to a line this hart already holds */
	uint64_t remote;                             /* access to a line that must come from another hart */
	uint64_t far;                                /* … from a hart of another cluster */
	uint64_t memory;                             /* … from memory, if no hart holds it */
	uint64_t occupancy;                          /* time for which one transfer keeps the line busy; transfers of a line queue */
	uint64_t wake;                               /* from a broken reservation to the waiter running again */
	uint64_t pause;                              /* PAUSE, and WRS without a valid reservation */
	uint64_t ipi;                                /* from HZ_VC_WAKE until the woken hart runs */
	uint64_t load, store, mul, div, branch, csr; /* extra cost of an instruction of the class, on top of insn (guest/cpu.h) */
	uint64_t div_bit;        /* extra cost of a division for each bit of its quotient, on top of div (guest/cpu.h) */
	uint64_t clean;          /* as remote, for a line that is still clean; 0: same as remote */
	uint64_t l2;             /* as memory, for a line in the shared cache */
	uint64_t dispatch;       /* least distance between two transfers, of any line; 0: transfers are independent */
	uint64_t loop_exit;      /* a conditional branch backward that is not taken, on top of branch */
	uint64_t pause_multiple; /* PAUSE ends at a multiple of this; 0: at once */
};

struct vc_jitter_option {
	uint64_t seed;     /* 0: off */
	uint64_t permille; /* mean, per thousand of the instructions counted */
};

struct vc_options {
	unsigned harts;       /* 0: as many as QEMU has */
	const char *ram;      /* file behind the guest's RAM, required */
	const char *shm;      /* file of ivshmem #0, needed for HZ_VC_HOST_WAIT and HZ_VC_HOST_WAKE */
	const char *nand;     /* file of ivshmem #1, whose bulk work the plugin then can do */
	const char *elf;      /* image, for names in dumps and reports */
	const char *report;   /* JSON result file */
	const char *trace;    /* text file with every sync point that the hash covers, to find where two runs part */
	const char *timeline; /* timeline.h */
	const char *profile;  /* text file with how often each segment of code ran outside freezes */
	uint64_t mhz;         /* frequency of every hart's clock */
	const char *preset;   /* its word */
	struct vc_costs cost;
	unsigned data;        /* enum hz_clock_data: whether plain loads and stores fetch lines too (vc_line_data) */
	bool merge;           /* reads of one line overlap */
	bool busy_access;     /* a transfer keeps its line busy until its access is done */
	bool turns;           /* arbitrate waiting transfers by hart number (round robin) */
	bool lr_alone;        /* LR fetches its line as a write does */
	unsigned cluster;     /* harts of a cluster; 0: all are near each other */
	uint64_t cache_bytes; /* per hart; 0: unlimited */
	unsigned cache_ways;
	uint64_t l2_bytes; /* of the shared cache; 0: no shared cache */
	unsigned l2_ways;
	uint64_t layout;         /* seed of where pages of RAM lie in caches (cost/cache.h); 0: as their addresses say */
	unsigned store_buffer;   /* entries of each hart's; 0: releases wait for their line */
	int pin;                 /* host core of the vCPU threads, VC_PIN_OFF or VC_PIN_AUTO */
	unsigned switch_by;      /* enum vc_switch: how hands are over given; auto: in user space where the machine can */
	bool count_each;         /* count instruction by instruction (slower, exact across traps and MMIO) */
	bool locks;              /* lock_profile.h */
	bool native;             /* native.h */
	uint64_t hold;           /* hypercall.h; thousandths, 1000: as it is */
	uint64_t hold_class;     /* of locks; VC_ANY_CLASS: all */
	uint64_t transfer;       /* cost/line.h; thousandths, 1000: as it is */
	uint64_t transfer_class; /* of locks; VC_ANY_CLASS: all */
	uint64_t pace;           /* hypercall.h; thousandths, 1000: as it is … */
	uint64_t pace_harts;     /* … of these harts, a bit each */
	bool race_check;
	struct vc_jitter_option jitter; /* schedule/clock.h */
	uint64_t spin_limit;            /* ns of device time in one spin-lock wait after which a hart counts as deadlocked; 0: no limit */
	unsigned watchdog_ms;           /* a token holder that sleeps for this long counts as stuck */
	unsigned lines;                 /* number of lines in the report */
};

/* Fill options from argv. Unknown keys and bad values: false, with one sentence in text. */
bool vc_options_parse(struct vc_options *options, int argc, char **argv, char *text, size_t bytes);

#endif
