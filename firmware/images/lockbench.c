/* lockbench.elf: harts take one lock in a loop; parameters and results in protocol/lockbench.h. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lockbench.h"

#include "boot.h"
#include "lt/arch.h"
#include "lt/lock.h"
#include "platform/console.h"
#include "platform/fail.h"
#include "platform/platform.h"
#include "platform/power.h"

static struct platform platform;
static struct lt_lock lock;
static uint64_t protected_sum __attribute__((aligned(64))); /* guarded by lock */
static lt_word go __attribute__((aligned(64)));
static lt_word arrived __attribute__((aligned(64)));
static lt_word left __attribute__((aligned(64)));

static struct hz_lockbench *block(void) { return (struct hz_lockbench *)HZ_LOCKBENCH_ADDR; }

/* Two instructions per turn, so that an independent model can count them. */
static inline void spend(uint64_t turns)
{
	__asm__ volatile("	beqz %0, 2f\n"
			 "1:	addi %0, %0, -1\n"
			 "	bnez %0, 1b\n"
			 "2:"
			 : "+r"(turns));
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static uint64_t draw_think(const struct hz_lockbench *b, uint64_t *state)
{
	if (!b->think_spread)
		return b->think;
	return b->think - b->think_spread + next_random(state) % (2 * b->think_spread + 1ull);
}

static void note_wait(struct hz_lockbench_hart *result, uint64_t ns)
{
	clock_freeze();
	result->wait_ns += ns;
	if (ns > result->wait_max_ns)
		result->wait_max_ns = ns;
	clock_thaw();
}

/* One acquire, section, release; returns the time after it. */
static uint64_t operate(const struct hz_lockbench *b, struct hz_lockbench_hart *result)
{
	struct lt_lock_node node;
	uint64_t asked = b->measure_waits ? clock_now_ns() : 0;

	lt_lock_acquire(&lock, &node);
	if (b->measure_waits)
		note_wait(result, clock_now_ns() - asked);
	protected_sum++;
	spend(b->section);
	lt_lock_release(&lock, &node);
	return clock_now_ns();
}

static void run(struct hz_lockbench *b, unsigned hart)
{
	struct hz_lockbench_hart *result = &b->hart[hart];
	uint64_t end = b->start_ns + b->duration_ns, entered = 0, operations = 0, now = b->start_ns;
	uint64_t random = (b->seed + hart + 1) * 0x9e3779b97f4a7c15ull | 1;

	for (; now < end; entered++) {
		spend(draw_think(b, &random));
		now = operate(b, result);
		operations += now < end;
	}
	result->operations = operations;
	result->end_ns = now;
	lt_add(&left, entered);
}

static void check_block(const struct hz_lockbench *b)
{
	if (b->magic != HZ_LOCKBENCH_MAGIC)
		fail_with("lockbench: no parameter block at 0x%lx", (unsigned long)HZ_LOCKBENCH_ADDR);
	if (b->harts == 0 || b->harts > platform.machine.harts)
		fail_with("lockbench: %u harts wanted, %u there", b->harts, platform.machine.harts);
	if (b->lock_kind >= LT_LOCK_KINDS || b->think_spread > b->think)
		fail_with("lockbench: unknown lock kind or think_spread above think");
}

static void prepare(struct hz_lockbench *b)
{
	const struct lt_lock_class only = { .name = "bench", .kind = (uint8_t)b->lock_kind };

	lt_locks_init(&platform.arena, &only, 1, LT_STATS_OFF, b->harts);
	lt_lock_init(&lock, 0, 0);
	b->start_ns = clock_now_ns();
	lt_store(&go, 1);
}

/* All harts have left the loop: the sum is complete. */
static void finish(struct hz_lockbench *b)
{
	uint64_t seen;

	while ((seen = lt_load(&arrived)) < b->harts)
		lt_spin_while(&arrived, seen);
	b->protected_sum = protected_sum;
	b->total = lt_load(&left);
	b->finished = 1;
	console_line("lockbench: %lu sections by %u harts", (unsigned long)b->total, b->harts);
	power_off(b->total == protected_sum || b->lock_kind == LT_LOCK_NONE ? HZ_POWER_OK : HZ_POWER_FAILED);
}

_Noreturn void hart_main(uint64_t hart, const void *device_tree)
{
	struct hz_lockbench *b = block();

	if (hart == 0) {
		platform_init(&platform, device_tree, boot_heap);
		check_block(b);
		prepare(b);
	}
	while (!lt_load(&go))
		lt_spin_while(&go, 0);
	if (hart < b->harts) {
		run(b, (unsigned)hart);
		lt_add(&arrived, 1);
	}
	if (hart == 0)
		finish(b);
	for (;;)
		lt_wait_while(&go, 1, LT_FOREVER);
}
