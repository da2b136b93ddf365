/* The probe image: small scenes for the tests of the virtual clock, each exercising one instruction or one state.
 *
 * The test writes struct probe_parameters into the guest's RAM file before the start and reads struct
 * probe_results after the end. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdint.h>

#include "vclock_abi.h"

enum scene {
	SCENE_ORDER,    /* contended counter: AMO loop with a think time */
	SCENE_DEADLINE, /* idle until several deadlines: by WRS.STO, and by TAKE inside a freeze */
	SCENE_PING,     /* WAIT and WAKE between neighbours */
	SCENE_HOST,     /* hart 0 asks the host with its clock frozen, others count */
	SCENE_CHARGE,   /* CHARGE, FREEZE and NOW on one hart */
	SCENE_DEADLOCK, /* two locks in opposite order */
	SCENE_COMPUTE,  /* hart 0 computes for ever, others are blocked */
	SCENE_SPIN,     /* every hart does AMOs for ever */
	SCENE_PARKED,   /* hart 0 waits for the host for ever, others are parked */
	SCENE_HALTED,   /* all harts in WFI */
	SCENE_RACE,     /* planted: a plain polling load, and an unlocked counter */
	SCENE_CLEAN,    /* the same work, synchronised */
	SCENE_FENCED,   /* published by relaxed atomics between fences; with think = 0 the fences are left out: a race */
	SCENE_SPEED,    /* straight code for the instruction rate */
	SCENE_ENDED,    /* END, but the machine is not powered off */
	SCENE_LATE,     /* lost wakes: WAKE long before WAIT */
	SCENE_FLUSH,    /* more code than a small code cache holds, others blocked */
	SCENE_WFI,      /* hart 1 sleeps in WFI until hart 0's interrupt; with think = 0 it does not come */
	SCENE_SPINLOCK, /* two test-and-set locks in opposite order */
	SCENE_UNFROZEN, /* waits for the host with its clock running */
	SCENE_MMIO,     /* reads a device register in straight code; with think = 0 inside a freeze */
	SCENE_TAKE,     /* parcels round a ring of words, taken by TAKE; with think = 0 by LR, WRS.STO and AMOSWAP */
	SCENE_BULK,     /* executes hypercalls as a list of jobs says, with a clock that stands or runs */
	SCENE_MARKED,   /* calls HZ_FROZEN code; with think = 0 inside a freeze, as it must */
};

struct probe_parameters {
	uint64_t scene, harts, rounds, think, seed;
};

struct probe_job {
	uint64_t hypercall, frozen, arg0, arg1, arg2;
};

struct probe_results {
	uint64_t done;      /* harts that finished */
	uint64_t value[64]; /* by hart */
	uint64_t log[512];  /* of hart 0 */
};

#define PARAMETERS ((const struct probe_parameters *)0x80300000)
#define RESULTS ((struct probe_results *)0x80301000)
#define BELL ((volatile uint32_t *)0x80303000)      /* written by the host: answer number */
#define JOBS ((const struct probe_job *)0x80304000) /* `rounds` of them */
#define QUESTION ((volatile uint32_t *)0x80303040)
#define SLOTS ((volatile struct hz_vc_slot *)HZ_VC_SLOTS_ADDR)

#define HYPERCALL(n) __asm__ volatile("slti x0, x0, %0" ::"i"(n) : "memory")

#define REQUEST(n, request) __asm__ volatile("slti x0, %1, %0" ::"i"(n), "r"(request) : "memory")

static uint64_t load(const uint64_t *w)
{
	uint64_t v;

	__asm__ volatile("lr.d.aq %0, (%1)" : "=r"(v) : "r"(w) : "memory");
	return v;
}

static void store(uint64_t *w, uint64_t v) { __asm__ volatile("amoswap.d.rl x0, %1, (%0)" ::"r"(w), "r"(v) : "memory"); }

static uint64_t swap(uint64_t *w, uint64_t v)
{
	uint64_t old;

	__asm__ volatile("amoswap.d.aqrl %0, %2, (%1)" : "=r"(old) : "r"(w), "r"(v) : "memory");
	return old;
}

static uint64_t add(uint64_t *w, uint64_t v)
{
	uint64_t old;

	__asm__ volatile("amoadd.d.aqrl %0, %2, (%1)" : "=r"(old) : "r"(w), "r"(v) : "memory");
	return old;
}

static void wait_nto(void) { __asm__ volatile(".word 0x00d00073" ::: "memory"); }

static void wait_sto(uint64_t hart, uint64_t deadline_ns)
{
	SLOTS[hart].arg0 = deadline_ns;
	__asm__ volatile(".word 0x01d00073" ::: "memory");
}

static uint64_t now(uint64_t hart)
{
	HYPERCALL(HZ_VC_NOW);
	return SLOTS[hart].now_ns;
}

static void think(uint64_t loops)
{
	while (loops--)
		__asm__ volatile("");
}

static uint64_t lock_a __attribute__((aligned(64)));
static uint64_t lock_b __attribute__((aligned(64)));
static uint64_t shared_word __attribute__((aligned(64)));
static uint64_t plain_flag __attribute__((aligned(64)));
static uint64_t plain_count __attribute__((aligned(64)));
static uint64_t never_written __attribute__((aligned(64)));
static uint64_t done __attribute__((aligned(64)));

static void acquire(uint64_t *lock)
{
	while (swap(lock, 1))
		while (load(lock))
			wait_nto();
}

static void release(uint64_t *lock) { store(lock, 0); }

static void scene_order(uint64_t hart)
{
	uint64_t state = PARAMETERS->seed * 0x9e3779b97f4a7c15ull + hart + 1;

	for (uint64_t i = 0; i < PARAMETERS->rounds; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		think(PARAMETERS->think + (state >> 58));
		acquire(&lock_a);
		RESULTS->value[hart] = RESULTS->value[hart] * 31 + ++plain_count;
		release(&lock_a);
	}
}

static uint64_t parcels[64][8] __attribute__((aligned(64)));

static uint64_t take(uint64_t hart, uint64_t deadline_ns)
{
	SLOTS[hart].arg0 = deadline_ns;
	if (PARAMETERS->think) {
		SLOTS[hart].arg1 = (uint64_t)parcels[hart];
		HYPERCALL(HZ_VC_TAKE);
		return SLOTS[hart].arg1;
	}
	if (!load(parcels[hart]))
		wait_sto(hart, deadline_ns);
	return swap(parcels[hart], 0);
}

static void scene_deadline(uint64_t hart)
{
	uint64_t t = now(hart);

	for (uint64_t i = 0; i < PARAMETERS->rounds; i++) {
		t += 1000 + 7 * hart;
		if (i & 1) {
			HYPERCALL(HZ_VC_FREEZE);
			take(hart, t);
		} else {
			load(&shared_word);
			wait_sto(hart, t);
		}
		if (!hart)
			RESULTS->log[2 * i] = now(hart) - t;
		if (i & 1)
			HYPERCALL(HZ_VC_THAW);
	}
	RESULTS->value[hart] = now(hart);
}

static void scene_ping(uint64_t hart)
{
	uint64_t next = (hart + 1) % PARAMETERS->harts, timeouts = 0;

	if (!hart) {
		SLOTS[hart].arg0 = next;
		HYPERCALL(HZ_VC_WAKE);
	}
	for (uint64_t i = 0; i < PARAMETERS->rounds; i++) {
		uint64_t deadline = now(hart) + 1000000;

		SLOTS[hart].arg0 = deadline;
		HYPERCALL(HZ_VC_WAIT);
		timeouts += now(hart) >= deadline;
		think(PARAMETERS->think);
		SLOTS[hart].arg0 = next;
		HYPERCALL(HZ_VC_WAKE);
	}
	RESULTS->value[hart] = now(hart) << 8 | timeouts;
}

static void scene_take(uint64_t hart)
{
	uint64_t next = (hart + 1) % PARAMETERS->harts, taken = 0, timeouts = 0;
	uint64_t state = PARAMETERS->seed * 0x9e3779b97f4a7c15ull + hart + 1;

	add(parcels[next], 1);
	while (taken < PARAMETERS->rounds) {
		uint64_t came = take(hart, now(hart) + 1000000);

		taken += came;
		timeouts += !came;
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		think(state >> 56);
		add(parcels[next], came);
	}
	take(hart, now(hart) + 1000000); /* the last one */
	taken = now(hart);
	timeouts += take(hart, taken + 500) != 0 || now(hart) < taken + 500;
	RESULTS->value[hart] = timeouts;
}

static void ask_host(uint32_t question)
{
	HYPERCALL(HZ_VC_FREEZE);
	HYPERCALL(HZ_VC_SYNC);
	*QUESTION = question;
	while (*BELL != question) {
		SLOTS[0].arg0 = question - 1;
		HYPERCALL(HZ_VC_HOST_WAIT);
	}
	HYPERCALL(HZ_VC_THAW);
}

static void scene_host(uint64_t hart)
{
	if (hart) {
		scene_order(hart);
		return;
	}
	for (uint64_t i = 0; i < PARAMETERS->rounds; i++) {
		think(50);
		ask_host((uint32_t)i + 1);
		add(&shared_word, 1);
		RESULTS->log[i] = now(0);
	}
}

static void scene_charge(uint64_t hart)
{
	uint64_t t[6];

	t[0] = now(hart);
	t[1] = now(hart);
	SLOTS[hart].arg0 = 12345;
	HYPERCALL(HZ_VC_CHARGE);
	t[2] = now(hart);
	HYPERCALL(HZ_VC_FREEZE);
	HYPERCALL(HZ_VC_FREEZE);
	think(1000);
	add(&shared_word, 1);
	t[3] = now(hart);
	HYPERCALL(HZ_VC_THAW);
	think(1000);
	t[4] = now(hart);
	HYPERCALL(HZ_VC_THAW);
	think(1000);
	t[5] = now(hart);
	if (!hart)
		for (int i = 0; i < 6; i++)
			RESULTS->log[i] = t[i];
}

static void scene_deadlock(uint64_t hart)
{
	uint64_t *first = hart & 1 ? &lock_b : &lock_a, *second = hart & 1 ? &lock_a : &lock_b;

	acquire(first);
	think(1000);
	SLOTS[hart].waiting_for = HZ_VC_LOCK(3, 7 + hart);
	acquire(second);
}

static void acquire_tas(uint64_t hart, uint64_t *lock, uint64_t index)
{
	SLOTS[hart].waiting_since_ns = now(hart);
	SLOTS[hart].waiting_for = HZ_VC_LOCK(0, index);
	while (swap(lock, 1))
		__asm__ volatile(".word 0x0100000f" ::: "memory"); /* PAUSE */
	SLOTS[hart].waiting_for = 0;
}

static void scene_spinlock(uint64_t hart)
{
	uint64_t *first = hart & 1 ? &lock_b : &lock_a, *second = hart & 1 ? &lock_a : &lock_b;

	acquire_tas(hart, first, 1 + (hart & 1));
	think(1000);
	acquire_tas(hart, second, 2 - (hart & 1));
}

static void scene_race(uint64_t hart)
{
	if (!hart) {
		think(2000);
		plain_flag = 1;
		add(&shared_word, 1);
	} else {
		add(&shared_word, 1);
		RESULTS->value[hart] = *(volatile uint64_t *)&plain_flag;
	}
	for (uint64_t i = 0; i < PARAMETERS->rounds; i++)
		++*(volatile uint64_t *)&plain_count;
}

static void scene_clean(uint64_t hart)
{
	if (!hart) {
		plain_flag = 1;
		store(&shared_word, 1);
	} else {
		while (!load(&shared_word))
			wait_nto();
		RESULTS->value[hart] = plain_flag;
	}
	scene_order(hart);
}

static void scene_fenced(uint64_t hart)
{
	uint64_t seen = 0;

	if (!hart) {
		plain_flag = 1;
		if (PARAMETERS->think)
			__asm__ volatile("fence rw, w" ::: "memory");
		__asm__ volatile("amoswap.d x0, %1, (%0)" ::"r"(&shared_word), "r"(1ul) : "memory");
	} else {
		while (!seen)
			__asm__ volatile("lr.d %0, (%1)" : "=r"(seen) : "r"(&shared_word) : "memory");
		if (PARAMETERS->think)
			__asm__ volatile("fence r, rw" ::: "memory");
		RESULTS->value[hart] = plain_flag;
	}
}

static void scene_forever(uint64_t hart, uint64_t scene)
{
	if (scene == SCENE_SPIN || (scene == SCENE_COMPUTE && hart))
		for (;;)
			add(&shared_word, 1);
	if (scene == SCENE_COMPUTE)
		for (;;)
			think(1000);
	if (scene == SCENE_HALTED)
		for (;;)
			__asm__ volatile("wfi");
	if (!hart)
		for (;;)
			ask_host(1);
	for (;;) {
		load(&shared_word);
		wait_nto();
	}
}

static void scene_late(uint64_t hart)
{
	if (hart) {
		SLOTS[hart].arg0 = 0;
		HYPERCALL(HZ_VC_WAKE);
	} else {
		think(5000);
		SLOTS[0].arg0 = UINT64_MAX;
		HYPERCALL(HZ_VC_WAIT);
		RESULTS->log[0] = now(0);
		SLOTS[0].arg0 = now(0) + 500;
		HYPERCALL(HZ_VC_WAIT);
		RESULTS->log[1] = now(0);
	}
}

static void scene_speed(uint64_t hart)
{
	uint64_t a = hart, b = 1;

	for (uint64_t i = 0; i < PARAMETERS->rounds; i++) {
		a += b * 3;
		b ^= a >> 7;
		if (a & 64)
			RESULTS->log[a & 255] += b;
	}
	RESULTS->value[hart] = a ^ b;
}

/* Calls fresh functions, each a RET in a line of its own. */
static void scene_flush(uint64_t hart)
{
	uint16_t *code = (uint16_t *)0x80400000;

	if (hart)
		return scene_order(hart);
	for (uint64_t i = 0; i < PARAMETERS->rounds * 1000; i++)
		code[i * 32] = 0x8082;
	__asm__ volatile("fence.i" ::: "memory");
	for (uint64_t i = 0; i < PARAMETERS->rounds * 1000; i++)
		((void (*)(void))(code + i * 32))();
}

static void scene_wfi(uint64_t hart)
{
	if (hart == 1) {
		__asm__ volatile("csrw mie, %0; wfi" ::"r"(8)); /* machine software interrupt, masked in mstatus */
		add(&shared_word, 1);
	} else {
		think(1000);
		add(&shared_word, 1); /* hart 1 halts before this */
		think(1000);
		if (PARAMETERS->think)
			*(volatile uint32_t *)(0x2000000 + 4) = 1; /* CLINT msip of hart 1 */
	}
}

static void scene_mmio(void)
{
	for (uint64_t i = 0; i < PARAMETERS->rounds; i++) {
		if (!PARAMETERS->think)
			HYPERCALL(HZ_VC_FREEZE);
		(void)*(volatile uint32_t *)0x2000000; /* CLINT msip of hart 0 */
		__asm__ volatile(".rept 20; nop; .endr");
		if (!PARAMETERS->think)
			HYPERCALL(HZ_VC_THAW);
	}
}

static HZ_FROZEN __attribute__((noinline)) void marked(void) { __asm__ volatile(".rept 20; nop; .endr"); }

static void scene_marked(void)
{
	for (uint64_t i = 0; i < PARAMETERS->rounds; i++) {
		if (!PARAMETERS->think)
			HYPERCALL(HZ_VC_FREEZE);
		marked();
		if (!PARAMETERS->think)
			HYPERCALL(HZ_VC_THAW);
	}
}

static void ask(const struct probe_job *job)
{
	SLOTS[0].arg0 = job->arg0;
	SLOTS[0].arg1 = job->arg1;
	SLOTS[0].arg2 = job->arg2;
	switch (job->hypercall) {
	case HZ_VC_COPY: HYPERCALL(HZ_VC_COPY); break;
	case HZ_VC_FILL: HYPERCALL(HZ_VC_FILL); break;
	case HZ_VC_LANES: HYPERCALL(HZ_VC_LANES); break;
	case HZ_VC_CHARGE: HYPERCALL(HZ_VC_CHARGE); break;
	case HZ_VC_LOCK_EVENT: HYPERCALL(HZ_VC_LOCK_EVENT); break;
	case HZ_VC_HAD: HYPERCALL(HZ_VC_HAD); break;
	case HZ_VC_HAD + 6: HYPERCALL(HZ_VC_HAD + 6); break;
	case HZ_VC_HAD + 13: HYPERCALL(HZ_VC_HAD + 13); break;
	case HZ_VC_FETCHED: REQUEST(HZ_VC_FETCHED, job->arg0); break;
	case HZ_VC_RUN: REQUEST(HZ_VC_RUN, job->arg0); break;
	case HZ_VC_LEFT: REQUEST(HZ_VC_LEFT, job->arg0); break;
	case HZ_VC_LINKS: REQUEST(HZ_VC_LINKS, 0x80001000ull); break;
	case HZ_VC_DONE: REQUEST(HZ_VC_DONE, job->arg0); break;
	case HZ_VC_FLASH_READ: REQUEST(HZ_VC_FLASH_READ, 0x80001000ull); break; /* its times are in the slot */
	case HZ_VC_ENDS_READ: REQUEST(HZ_VC_ENDS_READ, job->arg0); break;
	case HZ_VC_ENDS_WRITE: REQUEST(HZ_VC_ENDS_WRITE, job->arg0); break;
	}
}

/* The log has the remainder in arg2, then the time of each job. */
static void scene_bulk(void)
{
	for (uint64_t i = 0; i < PARAMETERS->rounds; i++) {
		uint64_t begin = now(0);

		if (JOBS[i].frozen) {
			HYPERCALL(HZ_VC_FREEZE);
			ask(&JOBS[i]);
			HYPERCALL(HZ_VC_THAW);
		} else {
			ask(&JOBS[i]);
		}
		RESULTS->log[i] = SLOTS[0].arg2;
		RESULTS->log[256 + i] = now(0) - begin;
	}
}

static void play(uint64_t hart)
{
	switch (PARAMETERS->scene) {
	case SCENE_ORDER: scene_order(hart); break;
	case SCENE_DEADLINE: scene_deadline(hart); break;
	case SCENE_PING: scene_ping(hart); break;
	case SCENE_HOST: scene_host(hart); break;
	case SCENE_CHARGE: scene_charge(hart); break;
	case SCENE_DEADLOCK: scene_deadlock(hart); break;
	case SCENE_RACE: scene_race(hart); break;
	case SCENE_CLEAN: scene_clean(hart); break;
	case SCENE_FENCED: scene_fenced(hart); break;
	case SCENE_SPEED: scene_speed(hart); break;
	case SCENE_LATE: scene_late(hart); break;
	case SCENE_FLUSH: scene_flush(hart); break;
	case SCENE_WFI: scene_wfi(hart); break;
	case SCENE_SPINLOCK: scene_spinlock(hart); break;
	case SCENE_UNFROZEN: HYPERCALL(HZ_VC_HOST_WAIT); break;
	case SCENE_MMIO: scene_mmio(); break;
	case SCENE_TAKE: scene_take(hart); break;
	case SCENE_BULK: scene_bulk(); break;
	case SCENE_MARKED: scene_marked(); break;
	case SCENE_ENDED: break;
	default: scene_forever(hart, PARAMETERS->scene);
	}
}

void probe_main(uint64_t hart)
{
	play(hart);
	if (add(&done, 1) + 1 == PARAMETERS->harts) {
		RESULTS->done = PARAMETERS->harts;
		HYPERCALL(HZ_VC_END);
		if (PARAMETERS->scene != SCENE_ENDED)
			*(volatile uint32_t *)0x100000 = 0x5555; /* finisher of QEMU's virt machine: power off */
	}
	for (;;) {
		load(&never_written);
		wait_nto();
	}
}
