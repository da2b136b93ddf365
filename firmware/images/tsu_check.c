/* tsu_check.elf: cost of a transaction on the TSU's hart on the machine itself, by number of dies.
 *
 * Boot argument dies=N (4 … 1024, a multiple of 4; default 4). Hart 0 owns programs and reads on every die, hart 1 is the TSU. Under the
 * virtual clock the work of hart 1 is its instructions (and the shared cache lines it fetched); the media's own work is frozen. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "boot.h"
#include "config_check.h"
#include "device_fields.h"
#include "lt/hart.h"
#include "nand/nand_media.h"
#include "platform/console.h"
#include "platform/fail.h"
#include "platform/platform.h"
#include "platform/power.h"
#include "tsu/tsu.h"
#include "tsu/tsu_report.h"

enum { ROUNDS = 4, CHANNELS = 4, MAX_DIES = 1024, PAGE_SECTORS = 2 };

struct job {
	struct tsu_txn txn;
	struct hz_oob oob[PAGE_SECTORS];
};

static struct platform platform;
static struct hz_device_config cfg;
static struct flash_map map;
static struct nand_media media;
static struct tsu *tsu;
static struct job jobs[MAX_DIES][2]; /* a program and a read for each die */
static const struct lt_thread owner = { "owner", 0 };
static struct lt_event start;
static uint32_t dies, round_number, left, done;
static struct {
	LT_OWN_LINE lt_word word;
} go;

static uint32_t wanted_dies(void)
{
	const char *args = platform.machine.bootargs;
	uint32_t number = 0;

	if (memcmp(args, "dies=", 5) != 0)
		return 4;
	for (args += 5; *args >= '0' && *args <= '9' && number <= MAX_DIES; args++)
		number = number * 10 + (uint32_t)(*args - '0');
	if (number == 0 || number % CHANNELS || number > MAX_DIES)
		fail_with("tsu_check: dies must be a multiple of %u up to %u", CHANNELS, MAX_DIES);
	return number;
}

/* MLC with the times of MCMQ's Table I, timing only. */
static void configure(void)
{
	hz_device_least(&cfg);
	cfg.channels = CHANNELS, cfg.chips_per_channel = dies / CHANNELS;
	cfg.blocks_per_plane = 8, cfg.pages_per_block = 16, cfg.page_bytes = PAGE_SECTORS * HZ_SECTOR_BYTES;
	cfg.slc_blocks_per_plane = 2, cfg.cell = HZ_CELL_MLC;
	cfg.plane_scheme = HZ_SCHEME_PDWC, cfg.media_mode = HZ_MEDIA_TIMING_ONLY;
	cfg.normal = (struct hz_region_timing){ .read_ns = { 56200, 71500 }, .program_ns = { 381200, 1578500 }, .erase_ns = 1200000 };
	cfg.channel_bytes_per_s = 409600000, cfg.command_ns = 200, cfg.read_age_limit_ns = 10000000;
	cfg.harts = 2, cfg.tsu_hart[0] = 1;
}

static void next_round(void);

static void job_done(struct tsu_txn *txn)
{
	if (txn->status != NAND_OK)
		fail_with("tsu_check: a transaction failed with status %d", (int)txn->status);
	done++;
	if (--left == 0)
		next_round();
}

static void submit(uint32_t die, uint8_t op)
{
	struct job *job = &jobs[die][op];
	uint32_t block = op == TSU_PROGRAM ? 3 : 4, row = op == TSU_PROGRAM ? round_number : 0;

	job->txn = (struct tsu_txn){ .owner = (struct lt_thread *)(uintptr_t)&owner,
				     .done = job_done,
				     .op = op,
				     .sectors = PAGE_SECTORS,
				     .oob = job->oob,
				     .ppa = ppa_make(&map, block, (row * map.shape.planes + die) * PAGE_SECTORS) };
	for (uint32_t i = 0; i < PAGE_SECTORS; i++)
		job->oob[i] = (struct hz_oob){ .sequence = done + 1, .kind = HZ_OOB_DATA };
	left++;
	tsu_submit(tsu, &job->txn);
}

static void next_round(void)
{
	if (round_number == ROUNDS) {
		lt_harts_stop();
		return;
	}
	left = 1; /* not over before all are submitted */
	for (uint32_t die = 0; die < dies; die++) {
		submit(die, TSU_PROGRAM);
		submit(die, TSU_READ);
	}
	round_number++;
	left--;
}

static void on_start(struct lt_event *event)
{
	(void)event;
	next_round();
}

static void prepare(void)
{
	uint64_t bytes;
	uint8_t *image;
	char text[200];
	const char *error;

	dies = wanted_dies();
	configure();
	error = hz_flash_config_check(&cfg, text, sizeof(text));
	if (error)
		fail_with("tsu_check: %s", error);
	bytes = hz_nand_image_bytes(&cfg);
	image = arena_alloc(&platform.arena, 1, bytes, "nand image"); /* clearing it is no hart's work: before the accounts begin */
	lt_harts_init(&platform.arena, cfg.harts, 4);
	flash_map_init(&map, &platform.arena, &cfg);
	error = nand_media_init(&media, &cfg, &map, image, bytes, NULL);
	if (error)
		fail_with("tsu_check: %s", error);
	tsu = tsu_init(&platform.arena, &cfg, &map, &media.nand);
	lt_post(&owner, &start, on_start);
}

static void report(void)
{
	struct hz_hart_times times;
	struct tsu_work work;

	tsu_work_done(tsu, &work);
	lt_hart_times(1, &times);
	if (work.transactions != done || done != dies * 2 * ROUNDS)
		fail_with("tsu_check: %u of %u transactions came back", done, dies * 2 * ROUNDS);
	console_line("tsu_check: dies %u transactions %u work_ns %lu per_transaction_ns %lu steps %lu events %lu clock %s", dies, done,
		     (unsigned long)times.work_ns, (unsigned long)(times.work_ns / done), (unsigned long)work.steps,
		     (unsigned long)times.events, clock_is_virtual() ? "virtual" : "real");
}

_Noreturn void hart_main(uint64_t hart, const void *device_tree)
{
	if (hart == 0) {
		platform_init(&platform, device_tree, boot_heap);
		if (platform.machine.harts != 2)
			fail_with("tsu_check: 2 harts wanted, %u there", platform.machine.harts);
		prepare();
		lt_store(&go.word, 1);
	}
	lt_spin_until_not(&go.word, 0);
	lt_hart_run();
	if (hart == 0) {
		report();
		power_off(HZ_POWER_OK);
	}
	for (;;)
		lt_wait_while(&go.word, 1, LT_FOREVER);
}
