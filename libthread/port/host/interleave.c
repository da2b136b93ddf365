/* The interleaver: harts as coroutines; a seeded choice resumes one of them at each access to a shared word. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "interleave.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "checks.h"
#include "host_clock.h"
#include "lt/hart.h"
#include "runner.h"

#if defined(HZ_SANITIZED_ADDRESSES)
#include <sanitizer/asan_interface.h>
static void leave_stack(void **save, const void *bottom, size_t size) { __sanitizer_start_switch_fiber(save, bottom, size); }
static void enter_stack(void *save, const void **bottom, size_t *size) { __sanitizer_finish_switch_fiber(save, bottom, size); }
static void forget_frames(void) { __asan_handle_no_return(); }
#else
/* Without AddressSanitizer switches of stacks need no report. */
static void leave_stack(void **save, const void *bottom, size_t size) { (void)save, (void)bottom, (void)size; }
static void enter_stack(void *save, const void **bottom, size_t *size) { (void)save, (void)bottom, (void)size; }
static void forget_frames(void) {}
#endif

#define HIGH (UINT64_C(1) << 63) /* priorities drawn at random; harts below it let all others go first */

enum {
	STACK_BYTES = 1 << 20,
	TIME = HZ_MAX_HARTS, /* the party of passing time */
	CALLER,              /* the caller of lt_interleave_run */
	PARTIES,
};

struct party {
	ucontext_t context;
	void *stack, *fake_stack; /* the latter is AddressSanitizer's, of some ten MiB; both are reused by later tests */
	size_t stack_bytes;
	uint64_t priority;
	bool in_turn;
	const lt_word *spins_on; /* NULL, or it waits until the word has another value */
	uint64_t spin_value;
	unsigned frozen; /* depth of its clock_freeze while it stands still */
};

bool lt_host_interleaves;
static struct {
	struct party party[PARTIES];
	unsigned current, one_in, caller_hart;
	uint64_t random, limit_ns, next_ns;
	uint64_t lowest; /* priority: of the last hart that relaxed */
} all;

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). */
static uint64_t draw(void)
{
	uint64_t z = all.random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* One in four stands still until no other party can go on, not even time. */
static uint64_t draw_priority(void) { return draw() % 4 ? draw() | HIGH : --all.lowest; }

static bool can_go(unsigned i)
{
	const struct party *party = &all.party[i];

	if (!party->in_turn)
		return lt_runner_due(i);
	return !party->spins_on || __atomic_load_n(&party->spins_on->value, __ATOMIC_ACQUIRE) != party->spin_value;
}

/* The eligible party with the highest priority; CALLER if all is done. */
static unsigned choose(void)
{
	unsigned best = CALLER, harts = lt_harts();
	bool stuck = false;

	for (unsigned i = 0; i < harts; i++) {
		bool goes = can_go(i);

		stuck |= all.party[i].in_turn && !goes;
		if (goes && (best == CALLER || all.party[i].priority > all.party[best].priority))
			best = i;
	}
	if (best != CALLER && all.party[best].priority > all.party[TIME].priority)
		return best;
	all.next_ns = lt_runner_next_ns();
	if (all.next_ns != LT_FOREVER && all.next_ns <= all.limit_ns)
		return TIME;
	if (best == CALLER && stuck && !lt_check_held(all.caller_hart))
		lt_fail("interleaver: deadlock, all harts that have work wait for a lock");
	return best;
}

static void arrived(struct party *self, const void **bottom, size_t *bytes)
{
	enter_stack(self->fake_stack, bottom, bytes);
	lt_host_hart = all.current == CALLER ? all.caller_hart : all.current;
	lt_host_frozen = self->frozen;
}

static void switch_to(unsigned next)
{
	struct party *from = &all.party[all.current], *to = &all.party[next];

	if (from == to)
		return;
	all.current = next;
	from->frozen = lt_host_frozen;
	leave_stack(&from->fake_stack, to->stack, to->stack_bytes);
	swapcontext(&from->context, &to->context);
	arrived(from, NULL, NULL);
}

/* Time passes wherever it is chosen: it needs no stack. */
static void go_on(void)
{
	unsigned next;

	while ((next = choose()) == TIME) {
		lt_host_clock_set(all.next_ns);
		all.party[TIME].priority = draw() | HIGH;
	}
	switch_to(next);
}

/* A new priority may let others go first; a word watched by all harts costs the test no patience. */
void lt_interleave_point(void)
{
	if (all.current == CALLER)
		return;
	if (draw() % all.one_in == 0)
		all.party[all.current].priority = draw_priority();
	go_on();
}

void lt_interleave_spin(const lt_word *w, uint64_t value)
{
	struct party *self = &all.party[all.current];

	self->spins_on = w;
	self->spin_value = value;
	go_on();
	self->spins_on = NULL;
}

void lt_interleave_relax(void)
{
	all.party[all.current].priority = --all.lowest;
	go_on();
}

/* A hart's loop. It is left between turns, or inside one when the next test begins. */
static void hart_main(void)
{
	struct party *caller = &all.party[CALLER], *self = &all.party[all.current];
	unsigned hart = all.current;
	const void *bottom = NULL;

	arrived(self, &bottom, &caller->stack_bytes);
	caller->stack = (void *)bottom;
	forget_frames(); /* of an earlier test, left inside a turn */
	/* AddressSanitizer's swapcontext forgets all state of a stack that it can see, at each switch: stacks in use are hidden from it. */
	self->context.uc_stack.ss_size = 0;
	for (;;) {
		self->in_turn = true;
		lt_host_turn(hart);
		self->in_turn = false;
		if (draw() % all.one_in == 0)
			self->priority = draw_priority();
		go_on();
	}
}

static void party_init(struct party *party)
{
	if (!party->stack) {
		party->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		party->stack_bytes = STACK_BYTES;
		if (party->stack == MAP_FAILED)
			lt_fail("interleaver: no memory for a stack");
	}
	getcontext(&party->context);
	party->context.uc_stack = (stack_t){ .ss_sp = party->stack, .ss_size = STACK_BYTES };
	makecontext(&party->context, hart_main, 0);
	party->in_turn = false;
	party->spins_on = NULL;
	party->frozen = 0;
}

void lt_host_interleave(uint64_t seed, unsigned one_in)
{
	if (!lt_runner_active() || !one_in)
		lt_fail("lt_host_interleave: the test clock comes first, and one_in is at least 1");
	all.random = seed;
	all.one_in = one_in;
	all.lowest = HIGH;
	all.current = CALLER;
	for (unsigned i = 0; i < lt_harts(); i++)
		party_init(&all.party[i]);
	for (unsigned i = 0; i <= TIME; i++)
		all.party[i].priority = draw_priority();
	lt_host_interleaves = true;
}

void lt_interleave_run(uint64_t limit_ns)
{
	all.limit_ns = limit_ns;
	all.caller_hart = lt_host_hart;
	go_on();
}
