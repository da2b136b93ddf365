/* One scene on this host, a pinned thread for each hart:
 *
 *   hz-calibrate SCENE CPU,CPU,... [WORD ...]
 *
 * prints ticks of a chain of HOST_CHAIN cycles before and after, ticks in a millisecond, and thousandths of the threads' time in which
 * somebody else had their CPUs; then the results. Waiting does not give the CPU to others, unlike libthread's host port: every hart has its own. */
/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "scenes.h"

#include "begin.h"

struct block host_block;
__thread unsigned lt_host_hart;
__thread unsigned lt_host_frozen;
bool lt_host_interleaves;

static const struct {
	const char *name;
	void (*play)(unsigned hart, unsigned harts);
} scenes[] = {
	{"core", host_core},      {"access", host_access},      {"memory", host_memory},  {"stores", host_stores},
	{"stream", scene_stream}, {"handover", scene_handover}, {"fanout", scene_fanout}, {"lock", scene_lock},
};

static struct {
	uint64_t chain, begin, begin_ns;
} clock_of;
static struct {
	struct {
		LT_OWN_LINE uint64_t at, used_ns;
	} begin[MOST_HARTS];
	lt_word ticks, used_ns, harts;
} account;
static int cpu_of[MOST_HARTS];

/* --- below libthread's locks --- */
void lt_fail(const char *text)
{
	fprintf(stderr, "hz-calibrate: %s\n", text);
	_exit(1);
}
void lt_interleave_point(void) { lt_fail("nothing is interleaved here"); }
void lt_may_wait(const char *what) { (void)what; }
void lt_relax(void) { __asm__ volatile(HOST_PAUSE : : : "memory"); }

uint64_t lt_spin_while(const lt_word *w, uint64_t value)
{
	uint64_t seen = lt_load(w);

	if (seen != value)
		return seen;
	lt_relax();
	return lt_load(w);
}

/* --- results --- */
void tell(uint64_t value)
{
	if (BLOCK->results == MOST_RESULTS)
		lt_fail("a scene has too many results");
	BLOCK->result[BLOCK->results++] = value;
}

static uint64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Reads both clocks at one time, unless this thread loses its CPU again and again. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
	uint64_t before = 0;

	for (int try = 0; try < 100; try++) {
		before = read_ns(CLOCK_MONOTONIC);
		*ticks = cycles();
		*ns = read_ns(CLOCK_MONOTONIC);
		if (*ns - before < 500)
			return;
	}
}

/* A hart's time is over: a thread reads its own clock exactly, that of another only as of its last interrupt. */
static void take_account(void)
{
	lt_add(&account.ticks, cycles() - account.begin[lt_host_hart].at);
	lt_add(&account.used_ns, read_ns(CLOCK_THREAD_CPUTIME_ID) - account.begin[lt_host_hart].used_ns);
	lt_add(&account.harts, 1);
}

/* A thread that comes late to the common start has lost the time since then. */
void machine_begun(uint64_t at)
{
	account.begin[lt_host_hart].at = at;
	account.begin[lt_host_hart].used_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
}

void machine_rest(void)
{
	take_account();
	pthread_exit(NULL);
}

void machine_end(struct block *block, uint64_t code)
{
	uint64_t ticks, ns;
	double ticks_per_ns, used;

	take_account();
	await_at_least(&account.harts, block->harts);
	read_both(&ticks, &ns);
	ticks_per_ns = (double)(ticks - clock_of.begin) / (double)(ns - clock_of.begin_ns);
	used = (double)lt_load(&account.used_ns) * ticks_per_ns / (double)lt_load(&account.ticks);
	printf("%" PRIu64 " %" PRIu64 " %.0f %.0f\n", clock_of.chain, host_chain_ticks(), ticks_per_ns * 1e6,
	       used < 1 ? 1000 * (1 - used) : 0.0);
	for (uint64_t i = 0; i < block->results; i++)
		printf("%s%" PRIu64, i ? " " : "", block->result[i]);
	printf("\n");
	fflush(stdout);
	_exit((int)code);
}

/* --- threads --- */
static void *hart_main(void *argument)
{
	unsigned hart = (unsigned)(uintptr_t)argument;

	lt_host_hart = hart;
	machine_begun(cycles());
	if (hart == 0) {
		read_both(&clock_of.begin, &clock_of.begin_ns);
		clock_of.chain = host_chain_ticks();
	}
	scenes[BLOCK->scene].play(hart, (unsigned)BLOCK->harts);
	machine_end(BLOCK, 0);
	return NULL;
}

static void start_thread(unsigned hart)
{
	pthread_attr_t attributes;
	pthread_t thread;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu_of[hart], &cpus);
	pthread_attr_init(&attributes);
	if (pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus) ||
	    pthread_create(&thread, &attributes, hart_main, (void *)(uintptr_t)hart)) {
		fprintf(stderr, "hz-calibrate: no thread can be started on CPU %d\n", cpu_of[hart]);
		_exit(1);
	}
	pthread_attr_destroy(&attributes);
}

/* --- the command line --- */
static uint64_t number_of(const char *text, char **end, uint64_t most)
{
	uint64_t value = strtoull(text, end, 10);

	if (*end == text || value > most)
		lt_fail("usage: hz-calibrate SCENE CPU,CPU,... [WORD ...], for ./hartzone calibrate");
	return value;
}

static void take_cpus(const char *text)
{
	char *end;

	for (BLOCK->harts = 0; BLOCK->harts < MOST_HARTS; text = end + 1) {
		cpu_of[BLOCK->harts++] = (int)number_of(text, &end, CPU_SETSIZE - 1);
		if (*end != ',')
			break;
	}
}

static void take_scene(const char *name)
{
	for (BLOCK->scene = 0; BLOCK->scene < sizeof(scenes) / sizeof(scenes[0]); BLOCK->scene++)
		if (!strcmp(scenes[BLOCK->scene].name, name))
			return;
	lt_fail("there is no such scene");
}

int main(int argc, char **argv)
{
	char *end;

	if (argc < 3)
		number_of("", &end, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	take_scene(argv[1]);
	take_cpus(argv[2]);
	for (int i = 3; i < argc && i - 3 < OF_SCENE; i++)
		BLOCK->of_scene[i - 3] = number_of(argv[i], &end, UINT64_MAX);
	for (unsigned hart = (unsigned)BLOCK->harts; hart-- > 0;)
		start_thread(hart);
	for (;;)
		pause();
}
