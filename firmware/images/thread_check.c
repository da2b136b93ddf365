/* thread_check.elf: libthread exercised on the machine itself, with the real or the virtual clock.
 *
 * Every hart sends parcels from its pool to harts drawn at random; these count them under locks of every kind and give them back; each
 * hart also has a timer that re-arms itself. When all parcels have come, the loops are stopped and the sums are checked. The lines on
 * the console are a function of device time under the virtual clock, and those of the harts do not depend on the level of lock
 * statistics: boot argument stats=0, 1 or 2 (enum lt_stats_level), default 2. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boot.h"
#include "lt/barrier.h"
#include "lt/checks.h"
#include "lt/hart.h"
#include "lt/lock.h"
#include "lt/pool.h"
#include "platform/console.h"
#include "platform/fail.h"
#include "platform/platform.h"
#include "platform/power.h"

enum { PARCELS_PER_HART = 400, POOL = 4, TIMER_NS = 20000, REPORT_EVERY = 50, LOCKS = LT_LOCK_KINDS - 1 };

struct parcel {
	struct lt_event event; /* first */
	uint64_t number;
};

struct station {
	LT_OWN_LINE struct lt_event event;
	struct lt_pool_waiter waiter;
	struct lt_timer timer;
	struct lt_thread thread;
	uint64_t random, sent, ticks;
};

static struct platform platform;
static struct lt_pool *pool;
static struct station stations[HZ_MAX_HARTS];
static struct {
	LT_OWN_LINE struct lt_lock lock;
	uint64_t count;
} counter[LOCKS];                /* each kind but none; count guarded by lock */
static struct lt_lock pair_lock; /* of readers and writers */
static uint64_t pair[2];         /* guarded by pair_lock: always equal */
static struct lt_lock twin_lock; /* of writers, and readers who look */
static uint32_t twin[2];         /* the same for it */
static struct lt_barrier finish_line;
static LT_OWN_LINE lt_word delivered;
static LT_OWN_LINE lt_word go;

static uint64_t draw_number(struct station *s)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return s->random * 0x2545f4914f6cdd1dull;
}

static void count_parcel(uint64_t number)
{
	struct lt_lock_node node;
	unsigned which = number % LOCKS;

	lt_lock_acquire(&counter[which].lock, &node);
	counter[which].count++;
	lt_lock_release(&counter[which].lock, &node);
}

static void touch_pair(uint64_t number)
{
	struct lt_lock_node node;

	if (number % 8 == 0) {
		lt_lock_acquire(&pair_lock, &node);
		pair[0]++;
		pair[1]++;
		lt_lock_release(&pair_lock, &node);
		return;
	}
	lt_lock_read(&pair_lock, &node);
	if (pair[0] != pair[1])
		fail_with("thread_check: a reader saw half a write");
	lt_lock_read_end(&pair_lock, &node);
}

static void write_twins(void)
{
	struct lt_lock_node node;

	lt_lock_acquire(&twin_lock, &node);
	lt_put(&twin[0], twin[0] + 1);
	lt_put(&twin[1], twin[1] + 1);
	lt_lock_release(&twin_lock, &node);
}

static void look_at_twins(void)
{
	struct lt_lock_node node;
	uint32_t seen[2];
	bool whole = lt_lock_look(&twin_lock, &node);

	if (whole) {
		seen[0] = lt_glance(&twin[0]);
		seen[1] = lt_glance(&twin[1]);
		whole = lt_lock_looked(&twin_lock, &node);
	}
	if (!whole) {
		lt_lock_read(&twin_lock, &node);
		memcpy(seen, twin, sizeof(seen));
		lt_lock_read_end(&twin_lock, &node);
	}
	if (seen[0] != seen[1])
		fail_with("thread_check: a look found half a write");
}

/* Others count while one reads. */
static void report_meanwhile(void)
{
	struct hz_lock_entry entry[LOCKS + 2];

	lt_lock_report(entry, 0, LOCKS + 2);
}

static void on_parcel(struct lt_event *ev)
{
	struct parcel *parcel = (struct parcel *)ev;

	count_parcel(parcel->number);
	touch_pair(parcel->number);
	if (parcel->number % 4 == 0)
		write_twins();
	else
		look_at_twins();
	if (parcel->number % REPORT_EVERY == 0)
		report_meanwhile();
	lt_pool_put(pool, parcel);
	if (lt_add(&delivered, 1) + 1 == (uint64_t)PARCELS_PER_HART * lt_harts())
		lt_harts_stop();
}

static void send(struct station *s, void *object)
{
	struct parcel *parcel = object;
	struct station *to = &stations[draw_number(s) % lt_harts()];

	parcel->number = s->sent++;
	lt_post(&to->thread, &parcel->event, on_parcel);
}

static void on_station(struct lt_event *ev);

static void send_more(struct station *s)
{
	if (s->sent < PARCELS_PER_HART)
		lt_post(&s->thread, &s->event, on_station);
}

static void on_object(struct lt_pool_waiter *waiter, void *object)
{
	struct station *s = (struct station *)((char *)waiter - offsetof(struct station, waiter));

	send(s, object);
	send_more(s);
}

static void on_station(struct lt_event *ev)
{
	struct station *s = (struct station *)ev;
	void *object = lt_pool_get(pool);

	if (!object) {
		lt_pool_wait(pool, &s->waiter, on_object);
		return;
	}
	send(s, object);
	send_more(s);
}

/* All times of a hart's account sum up, whenever it is read. Returns its spin time. */
static uint64_t read_account(unsigned hart, struct hz_hart_times *out)
{
	uint64_t spin = 0;

	lt_hart_times(hart, out);
	for (unsigned c = 0; c < HZ_MAX_LOCK_CLASSES; c++)
		spin += out->spin_ns[c];
	if (out->work_ns + out->idle_ns + spin != out->elapsed_ns)
		fail_with("thread_check: the account of hart %u does not sum up", hart);
	return spin;
}

/* While the others are at work: the statistics read must be consistent, and reading must wait for no hart with the clock frozen. */
static void read_statistics(void)
{
	struct hz_hart_times t;

	lt_lock_report(NULL, 0, 0);
	for (unsigned i = 0; i < lt_harts(); i++)
		read_account(i, &t);
}

static void on_timer(struct lt_timer *timer)
{
	struct station *s = (struct station *)((char *)timer - offsetof(struct station, timer));

	if (clock_now_ns() < timer->deadline_ns)
		fail_with("thread_check: a timer fired too early");
	s->ticks++;
	lt_hart_times_publish();
	if (s == stations)
		read_statistics();
	/* From now on: under the real clock of a busy host ticks may take longer than the time between them, and must not pile up. */
	lt_timer_arm(timer, clock_now_ns() + TIMER_NS, on_timer);
}

/* Timers belong to the hart that arms them, so each station starts by an event. */
static void on_start(struct lt_event *ev)
{
	struct station *s = (struct station *)ev;

	lt_timer_arm(&s->timer, clock_now_ns() + TIMER_NS, on_timer);
	send_more(s);
}

static enum lt_stats_level level(void)
{
	const char *args = platform.machine.bootargs;
	char digit = memcmp(args, "stats=", 6) == 0 ? args[6] : '2';

	if (digit < '0' || digit > '2')
		fail_with("thread_check: stats must be 0, 1 or 2");
	return (enum lt_stats_level)(digit - '0');
}

static void prepare(unsigned harts)
{
	struct lt_lock_class classes[LOCKS + 2] = { [LOCKS] = { .name = "pair", .kind = LT_LOCK_RW },
						    [LOCKS + 1] = { .name = "twins", .kind = LT_LOCK_SEQ } };

	lt_harts_init(&platform.arena, harts, 2);
	for (unsigned i = 0; i < LOCKS; i++)
		classes[i] = (struct lt_lock_class){ .name = "counter", .kind = (uint8_t)(LT_LOCK_NONE + 1 + i) };
	lt_locks_init(&platform.arena, classes, LOCKS + 2, level(), harts);
	lt_locks_check(true);
	for (unsigned i = 0; i < LOCKS; i++)
		lt_lock_init(&counter[i].lock, i, i);
	lt_lock_init(&pair_lock, LOCKS, 0);
	lt_lock_init(&twin_lock, LOCKS + 1, 1);
	lt_barrier_init(&finish_line, harts);
	pool = lt_pool_new(&platform.arena, harts, POOL, sizeof(struct parcel), "parcels");
	for (unsigned i = 0; i < harts; i++) {
		stations[i].thread = (struct lt_thread){ "station", i };
		stations[i].random = i + 1;
		lt_post(&stations[i].thread, &stations[i].event, on_start);
	}
}

static void check_counters(uint64_t expected)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < LOCKS; i++)
		sum += counter[i].count;
	if (sum != expected || pair[0] != pair[1] || twin[0] != twin[1] || twin[0] != PARCELS_PER_HART / 4 * lt_harts())
		fail_with("thread_check: %lu parcels were counted, %lu sent", (unsigned long)sum, (unsigned long)expected);
}

static void check_locks(void)
{
	struct hz_lock_entry entry[LOCKS + 2];
	unsigned reported = lt_lock_report(entry, 0, LOCKS + 2);

	if (reported != (level() == LT_STATS_OFF ? 0 : LOCKS + 2))
		fail_with("thread_check: %u locks are reported", reported);
	for (unsigned i = 0; i < reported; i++) {
		uint64_t wanted = i < LOCKS ? counter[i].count : (uint64_t)PARCELS_PER_HART * lt_harts();

		if (entry[i].acquisitions < wanted || (entry[i].kind != LT_LOCK_SEQ && entry[i].acquisitions > wanted)) /* looks in vain */
			fail_with("thread_check: lock kind %u lost a count", entry[i].kind);
		console_line("lock kind %u: %lu acquisitions, %lu contended, wait %lu ns, hold %lu ns, p99 %u and %u ns, %lu handovers",
			     entry[i].kind, (unsigned long)entry[i].acquisitions, (unsigned long)entry[i].contended,
			     (unsigned long)entry[i].wait_ns, (unsigned long)entry[i].hold_ns, entry[i].wait_p99_ns, entry[i].hold_p99_ns,
			     (unsigned long)entry[i].handovers);
	}
}

static void check_hart(unsigned hart)
{
	struct hz_hart_times t;
	uint64_t spin = read_account(hart, &t);

	if (stations[hart].sent != PARCELS_PER_HART)
		fail_with("thread_check: hart %u has sent %lu parcels", hart, (unsigned long)stations[hart].sent);
	console_line("hart %u: elapsed %lu ns, work %lu, spin %lu, idle %lu, %lu events, %lu timers", hart, (unsigned long)t.elapsed_ns,
		     (unsigned long)t.work_ns, (unsigned long)spin, (unsigned long)t.idle_ns, (unsigned long)t.events,
		     (unsigned long)stations[hart].ticks);
}

_Noreturn void hart_main(uint64_t hart, const void *device_tree)
{
	if (hart == 0) {
		platform_init(&platform, device_tree, boot_heap);
		prepare(platform.machine.harts);
		lt_store(&go, 1);
	}
	lt_spin_until_not(&go, 0);
	lt_hart_run();
	lt_barrier_wait(&finish_line);
	if (hart == 0) {
		check_counters((uint64_t)PARCELS_PER_HART * lt_harts());
		for (unsigned i = 0; i < lt_harts(); i++)
			check_hart(i);
		check_locks();
		console_line("thread_check: passed, %s clock", clock_is_virtual() ? "virtual" : "real");
		power_off(HZ_POWER_OK);
	}
	for (;;)
		lt_wait_while(&go, 1, LT_FOREVER);
}
