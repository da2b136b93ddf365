/* flashbench.elf: patterns of flash operations on the TSU's own harts; parameters and results in protocol/flashbench.h. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "patterns/flash_patterns.h"

#include "boot.h"
#include "config_check.h"
#include "lt/hart.h"
#include "nand/nand_media.h"
#include "platform/console.h"
#include "platform/fail.h"
#include "platform/platform.h"
#include "platform/power.h"

static struct platform platform;
static struct flash_map map;
static struct nand_media media;
static struct flash_patterns patterns;
static struct {
	LT_OWN_LINE lt_word word;
} go;

static struct hz_flashbench *parameters(void) { return (struct hz_flashbench *)HZ_FLASHBENCH_ADDR; }

static void check_parameters(const struct hz_flashbench *block)
{
	static char text[200];
	const char *error;

	if (block->magic != HZ_FLASHBENCH_MAGIC)
		fail_with("flashbench: no parameter block at 0x%lx", (unsigned long)HZ_FLASHBENCH_ADDR);
	if (block->patterns == 0 || block->patterns > HZ_FLASHBENCH_PATTERNS)
		fail_with("flashbench: %lu patterns; 1 to %d fit", (unsigned long)block->patterns, HZ_FLASHBENCH_PATTERNS);
	error = hz_flash_config_check(&block->cfg, text, sizeof(text));
	if (error)
		fail_with("flashbench: %s", error);
	if (block->cfg.harts != platform.machine.harts)
		fail_with("flashbench: %u harts wanted, %u there", block->cfg.harts, platform.machine.harts);
}

static void stop_harts(struct flash_patterns *ended)
{
	(void)ended;
	lt_harts_stop();
}

static void prepare(struct hz_flashbench *block)
{
	uint64_t bytes = hz_nand_image_bytes(&block->cfg);
	const char *error;
	void *image;

	check_parameters(block);
	image = arena_alloc(&platform.arena, 1, bytes, "nand image");
	lt_harts_init(&platform.arena, block->cfg.harts, 4);
	flash_map_init(&map, &platform.arena, &block->cfg);
	error = nand_media_init(&media, &block->cfg, &map, image, bytes, NULL);
	if (error)
		fail_with("flashbench: %s", error);
	flash_patterns_init(&patterns, &platform.arena, tsu_init(&platform.arena, &block->cfg, &map, &media.nand), &map, block);
	flash_patterns_run(&patterns, 0, (uint32_t)block->patterns - 1, stop_harts);
}

static void finish(struct hz_flashbench *block)
{
	for (uint32_t i = 0; i < block->cfg.tsu_count; i++) {
		struct hz_hart_times times;

		lt_hart_times(block->cfg.tsu_hart[i], &times);
		block->work_ns[i] = times.work_ns;
	}
	block->finished = 1;
	console_line("flashbench: %lu patterns, %lu transactions, clock %s", (unsigned long)block->patterns,
		     (unsigned long)block->transactions, clock_is_virtual() ? "virtual" : "real");
}

_Noreturn void hart_main(uint64_t hart, const void *device_tree)
{
	if (hart == 0) {
		platform_init(&platform, device_tree, boot_heap);
		prepare(parameters());
		lt_store(&go.word, 1);
	}
	lt_spin_until_not(&go.word, 0);
	lt_hart_run();
	if (hart == 0) {
		finish(parameters());
		power_off(HZ_POWER_OK);
	}
	for (;;)
		lt_wait_while(&go.word, 1, LT_FOREVER);
}
