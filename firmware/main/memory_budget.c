/* Charging allocations to memories. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "main/memory_budget.h"

#include <string.h>

#include "lt/arch.h"
#include "sentence.h"

/* Memory of tables and data. */
static enum hz_memory bulk_memory(const struct hz_device_config *cfg)
{
	return cfg->sram_bytes && !cfg->dram_bytes ? HZ_MEMORY_SRAM : HZ_MEMORY_DRAM;
}

static enum hz_memory memory_of(const struct arena_line *line, const struct hz_device_config *cfg)
{
	switch (line->use) {
	case ARENA_STATE: return HZ_MEMORY_SRAM;
	case ARENA_MODEL: return HZ_MEMORY_MODEL;
	case ARENA_LOAN: return HZ_MEMORY_LENT;
	default: return bulk_memory(cfg);
	}
}

static void copy_words(char *to, size_t room, const char *words)
{
	struct hz_sentence out = { to, room, 0 };

	hz_say(&out, words);
}

static void add_line(const struct arena_line *line, enum hz_memory memory, struct hz_memory_ledger *out)
{
	struct hz_memory_line *entry = &out->line[out->lines++];

	copy_words(entry->owner, sizeof(entry->owner), line->owner);
	copy_words(entry->what, sizeof(entry->what), line->what);
	entry->bytes = line->bytes;
	entry->memory = memory;
	out->bytes[memory] += line->bytes;
}

static uint64_t bytes_of(const struct arena_ledger *ledger, enum arena_use use)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < ledger->count; i++)
		bytes += ledger->line[i].use == use ? ledger->line[i].bytes : 0;
	return bytes;
}

/* Memory lent to mount overlaps that of later data, up to its size. */
static void charge_lines(const struct arena_ledger *ledger, const struct hz_device_config *cfg, struct hz_memory_ledger *out)
{
	uint64_t lent = bytes_of(ledger, ARENA_LOAN), data = bytes_of(ledger, ARENA_DATA);
	struct arena_line beyond = { "mount", "more than the memory for data", lent > data ? lent - data : 0, ARENA_TABLE };

	for (uint32_t i = 0; i < ledger->count; i++)
		if (ledger->line[i].bytes)
			add_line(&ledger->line[i], memory_of(&ledger->line[i], cfg), out);
	if (beyond.bytes)
		add_line(&beyond, bulk_memory(cfg), out);
}

static void say_kib(struct hz_sentence *say, uint64_t bytes)
{
	hz_say_number(say, bytes / 1024 + (bytes % 1024 != 0));
	hz_say(say, " KiB");
}

static const struct hz_memory_line *largest(const struct hz_memory_ledger *ledger, uint32_t memory)
{
	const struct hz_memory_line *found = NULL;

	for (uint32_t i = 0; i < ledger->lines; i++)
		if (ledger->line[i].memory == memory && (!found || ledger->line[i].bytes > found->bytes))
			found = &ledger->line[i];
	return found;
}

/* Rounded up, so that a shortage never reads as zero. */
static void say_short(const struct hz_memory_ledger *ledger, uint32_t memory, struct hz_sentence *say)
{
	static const char *const name[HZ_MEMORIES] = { [HZ_MEMORY_SRAM] = "SRAM", [HZ_MEMORY_DRAM] = "DRAM" };
	static const char *const key[HZ_MEMORIES] = { [HZ_MEMORY_SRAM] = " of memory.sram (", [HZ_MEMORY_DRAM] = " of memory.dram (" };
	const struct hz_memory_line *most = largest(ledger, memory);

	hz_say(say, say->used ? "; and " : "the device needs ");
	say_kib(say, ledger->bytes[memory]);
	hz_say(say, " of ");
	hz_say(say, name[memory]);
	hz_say(say, ", ");
	say_kib(say, ledger->bytes[memory] - ledger->limit[memory]);
	hz_say(say, " more than the ");
	say_kib(say, ledger->limit[memory]);
	hz_say(say, key[memory]);
	hz_say(say, "most of it: ");
	hz_say(say, most->owner);
	hz_say(say, ", ");
	hz_say(say, most->what);
	hz_say(say, ", ");
	say_kib(say, most->bytes);
	hz_say(say, ")");
}

const char *memory_charge(const struct arena_ledger *ledger, const struct hz_device_config *cfg, struct hz_memory_ledger *out, char *text,
			  size_t bytes)
{
	struct hz_sentence say = { text, bytes, 0 };

	clock_freeze();
	memset(out, 0, sizeof(*out));
	out->limit[HZ_MEMORY_SRAM] = cfg->sram_bytes;
	out->limit[HZ_MEMORY_DRAM] = cfg->dram_bytes;
	charge_lines(ledger, cfg, out);
	for (uint32_t m = HZ_MEMORY_SRAM; m <= HZ_MEMORY_DRAM; m++)
		if (out->limit[m] && out->bytes[m] > out->limit[m])
			say_short(out, m, &say);
	out->refused = say.used > 0;
	clock_thaw();
	return say.used ? text : NULL;
}
