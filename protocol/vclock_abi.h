/* Contract between firmware and the virtual-clock plugin: hypercall instructions and the per-hart slot page.
 *
 * Without the plugin every hypercall is a legal RISC-V no-op (SLTI x0,x0,imm: custom HINT space, unprivileged spec 2.9), so one
 * ELF runs on plain QEMU and under the plugin. Operands travel in the hart's slot, in guest RAM shared with the plugin. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_VCLOCK_ABI_H
#define HZ_PROTOCOL_VCLOCK_ABI_H

#include "base.h"

#define HZ_RAM_BASE 0x80000000ull         /* QEMU virt */
#define HZ_VC_SLOTS_ADDR 0x80200000ull    /* 64 slots of 64 bytes; the linker script reserves the page */
#define HZ_VC_MAGIC 0x315f4b434f4c4356ull /* "VCLOCK_1", set in every slot by the plugin before any hart runs past its first hypercall */

/* imm of SLTI x0,x0,imm */
enum hz_hypercall {
	HZ_VC_SYNC = 0x100,       /* sync point: go on only as the hart with the smallest clock */
	HZ_VC_NOW = 0x101,        /* slot.now_ns = this hart's device time */
	HZ_VC_WAIT = 0x102,       /* park until slot.arg0 (ns) or a HZ_VC_WAKE aimed at this hart */
	HZ_VC_WAKE = 0x103,       /* wake hart slot.arg0 from HZ_VC_WAIT; one later than the deadline is remembered, one at most */
	HZ_VC_FREEZE = 0x104,     /* from here this hart's clock stands still (nests); sync instructions still order but cost nothing, and
				     nothing but HZ_VC_TAKE may wait. slot.now_ns is this hart's device time until the THAW */
	HZ_VC_THAW = 0x105,       /* end of HZ_VC_FREEZE */
	HZ_VC_HOST_WAIT = 0x106,  /* inside FREEZE: sleep on the host until the host doorbell word changes from slot.arg0, at most ~1 ms */
	HZ_VC_CHARGE = 0x107,     /* advance this hart's clock by slot.arg0 ns */
	HZ_VC_HOST_WAKE = 0x108,  /* wake host threads sleeping on the completion doorbell of queue slot.arg0 */
	HZ_VC_TAKE = 0x109,       /* sleep until the word at slot.arg1 is not 0 or until slot.arg0 (ns); slot.arg1 = the word, word = 0 */
	HZ_VC_WINDOW = 0x10a,     /* the guest sees the file slot.arg2 (enum hz_vc_file) from slot.arg0 on, slot.arg1 bytes of it */
	HZ_VC_COPY = 0x10b,       /* slot.arg2 bytes from slot.arg1 to slot.arg0, apart from each other */
	HZ_VC_FILL = 0x10c,       /* slot.arg2 bytes from slot.arg0 on become slot.arg1 */
	HZ_VC_LANES = 0x10d,      /* hz_lanes_mix() of the lanes at slot.arg0 with slot.arg2 bytes at slot.arg1 */
	HZ_VC_LOCK_EVENT = 0x10e, /* slot.arg0 (enum hz_vc_lock_event) happened to the spin lock slot.arg1 (HZ_VC_LOCK), asked for from
				     address slot.arg2; for the plugin's lock profile, inside a freeze */
	HZ_VC_SPAN =
		0x10f,     /* slot.arg2 (HZ_VC_SPAN_OF) lasted from slot.arg0 to slot.arg1 ns; for the plugin's timeline, inside a freeze */
	HZ_VC_HAD = 0x110, /* … to 0x11f: a logical lock was had, HZ_VC_HAD + its number; for the plugin's lock profile, anywhere */
	/* SLTI x0, rs1, imm: progress of the request at the address in rs1; for the plugin's lock profile, anywhere */
	HZ_VC_FETCHED = 0x120, /* it is new, and this hart works at it */
	HZ_VC_RUN,             /* this hart works at it */
	HZ_VC_LEFT,            /* … no more, if it still did */
	HZ_VC_LINKS,           /* its data cross the link until slot.arg0 ns: it does not end before */
	HZ_VC_DONE,            /* the FTL has done it */
	HZ_VC_FLASH_READ,      /* its wait: cells from slot.arg0 to slot.arg1 ns, then the channel until slot.arg2; before the RUN */
	HZ_VC_ENDS_READ,       /* successful: its completion is about to be posted */
	HZ_VC_ENDS_WRITE,
	HZ_VC_STAY = 0x130,   /* inside FREEZE: plain accesses of this hart are no sync points before its next FREEZE */
	HZ_VC_NATIVE = 0x131, /* inside FREEZE: the plugin runs the struct hz_native_call at slot.arg0, or goes on with it */
	HZ_VC_LOOK = 0x132,   /* plain loads of this hart may race until LOOKED: it uses what they read only if nothing was written */
	HZ_VC_LOOKED = 0x133,
	HZ_VC_END = 0x1ff, /* the run is over: the next instruction powers the machine off */
};
/* TAKE counts as LR, WRS.STO and, when there is something, AMOSWAP.AQRL: so a look in vain need not run the hart. The word is 8-byte
 * aligned and in RAM. COPY, FILL and LANES are work of hardware while the clock stands. The plugin does it at the host's speed and sets
 * slot.arg2 to 0; slot.arg2 stays if it cannot (the clock runs, a race check needs each access, no file is known there): then the hart
 * does it. WRS.STO (0x01d00073) parks on the LR reservation with deadline slot.arg0 ns (UINT64_MAX: none); WRS.NTO parks without one. */

enum { HZ_VC_LOGICAL_LOCKS = 16 };

enum hz_vc_lock_event {
	HZ_VC_LOCK_ASKED,  /* in vain: the hart waits */
	HZ_VC_LOCK_WAITED, /* the wait is over, GOT follows */
	HZ_VC_LOCK_GOT,
	HZ_VC_LOCK_GOT_SHARED, /* together with other readers */
	HZ_VC_LOCK_GIVEN,      /* back */
	HZ_VC_LOCK_REFUSED,    /* without a wait */
	HZ_VC_LOGICAL_ASKED,   /* of a logical lock, also in slot.arg1: the waiter with its address in slot.arg2 begins to wait */
	HZ_VC_LOGICAL_ENDED,   /* … its wait is over, if it waited; slot.arg1 says nothing */
	HZ_VC_ACCOUNT_RESET,   /* the hart's account of its time restarts */
	HZ_VC_ACCOUNT_SHOWN,   /* … and stands still, until it is shown again */
	HZ_VC_LOCKS_RESET,     /* statistics of all locks restart */
	HZ_VC_LOCKS_REPORTED,  /* … and go into a report */
};

enum hz_vc_file { HZ_VC_SHM, HZ_VC_NAND, HZ_VC_FILES }; /* behind ivshmem #0 and #1 */

#define HZ_VC_LOCK(lock_class, index) ((uint64_t)((lock_class) + 1) << 32 | (uint32_t)(index))
#define HZ_VC_LOCK_CLASS(what) ((uint32_t)((what) >> 32) - 1)
#define HZ_VC_LOCK_INDEX(what) ((uint32_t)(what))

/* An operation of a die: enum tsu_op (read, program, erase) and enum hz_cause. */
#define HZ_VC_SPAN_OF(die, op, cause) ((uint64_t)(die) << 32 | (uint32_t)(op) << 8 | (uint32_t)(cause))
#define HZ_VC_SPAN_DIE(what) ((uint32_t)((what) >> 32))
#define HZ_VC_SPAN_OP(what) ((uint32_t)(what) >> 8)
#define HZ_VC_SPAN_CAUSE(what) ((uint32_t)(what)&0xff)

struct hz_vc_slot {
	uint64_t magic; /* HZ_VC_MAGIC under the plugin, else 0: firmware recognises its clock by it */
	uint64_t now_ns;
	uint64_t arg0;
	uint64_t arg1;
	uint64_t waiting_for;      /* HZ_VC_LOCK(class, index) while the hart waits for a spin lock, else 0: shown by the deadlock dump */
	uint64_t waiting_since_ns; /* device time when that wait began: too many PAUSEs in it end the run */
	uint64_t arg2;
	uint64_t native; /* not 0: the plugin serves HZ_VC_NATIVE */
};
HZ_ASSERT_SIZE(struct hz_vc_slot, 64);

#endif
