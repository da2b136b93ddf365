/* Parsing of the plugin's key=value options. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "clock_preset.h"

enum kind { TEXT, NUMBER, SMALL, SWITCH, DATA, READS, BUSY, ARBITER, LR, PRESET, PIN, COUNT, JITTER, SWITCH_BY };
struct key {
	const char *name;
	enum kind kind;
	size_t offset;
	uint64_t low, high;
};

#define FIELD(f) offsetof(struct vc_options, f)
#define COST_KEY(c) #c, NUMBER, FIELD(cost.c), 0, HZ_MAX_COST
static const struct key keys[] = {
	{ "harts", SMALL, FIELD(harts), 1, 64 },
	{ "ram", TEXT, FIELD(ram), 0, 0 },
	{ "shm", TEXT, FIELD(shm), 0, 0 },
	{ "nand", TEXT, FIELD(nand), 0, 0 },
	{ "elf", TEXT, FIELD(elf), 0, 0 },
	{ "report", TEXT, FIELD(report), 0, 0 },
	{ "trace", TEXT, FIELD(trace), 0, 0 },
	{ "timeline", TEXT, FIELD(timeline), 0, 0 },
	{ "profile", TEXT, FIELD(profile), 0, 0 },
	{ "mhz", NUMBER, FIELD(mhz), 1, HZ_MAX_MHZ },
	{ "preset", PRESET, FIELD(preset), 0, 0 },
	{ COST_KEY(insn) },
	{ COST_KEY(local) },
	{ COST_KEY(remote) },
	{ COST_KEY(far) },
	{ COST_KEY(memory) },
	{ COST_KEY(occupancy) },
	{ COST_KEY(wake) },
	{ COST_KEY(pause) },
	{ COST_KEY(ipi) },
	{ "load", NUMBER, FIELD(cost.load), 0, HZ_MAX_COST },
	{ "store", NUMBER, FIELD(cost.store), 0, HZ_MAX_COST },
	{ COST_KEY(mul) },
	{ COST_KEY(div) },
	{ COST_KEY(branch) },
	{ COST_KEY(csr) },
	{ COST_KEY(div_bit) },
	{ COST_KEY(loop_exit) },
	{ COST_KEY(clean) },
	{ COST_KEY(dispatch) },
	{ COST_KEY(pause_multiple) },
	{ COST_KEY(l2) },
	{ "l2_bytes", NUMBER, FIELD(l2_bytes), 0, HZ_MAX_CACHE_BYTES },
	{ "l2_ways", SMALL, FIELD(l2_ways), 1, HZ_MAX_CACHE_WAYS },
	{ "busy", BUSY, FIELD(busy_access), 0, 0 },
	{ "arbiter", ARBITER, FIELD(turns), 0, 0 },
	{ "lr", LR, FIELD(lr_alone), 0, 0 },
	{ "data", DATA, FIELD(data), 0, 0 },
	{ "reads", READS, FIELD(merge), 0, 0 },
	{ "cluster", SMALL, FIELD(cluster), 0, 64 },
	{ "cache_bytes", NUMBER, FIELD(cache_bytes), 0, HZ_MAX_CACHE_BYTES },
	{ "cache_ways", SMALL, FIELD(cache_ways), 1, HZ_MAX_CACHE_WAYS },
	{ "layout", NUMBER, FIELD(layout), 0, UINT64_MAX },
	{ "store_buffer", SMALL, FIELD(store_buffer), 0, HZ_MAX_STORE_BUFFER },
	{ "pin", PIN, FIELD(pin), 0, 1023 },
	{ "switch", SWITCH_BY, FIELD(switch_by), 0, 0 },
	{ "count", COUNT, FIELD(count_each), 0, 0 },
	{ "locks", SWITCH, FIELD(locks), 0, 0 },
	{ "native", SWITCH, FIELD(native), 0, 0 },
	{ "hold", NUMBER, FIELD(hold), 100, 10000 },
	{ "hold_class", NUMBER, FIELD(hold_class), 0, VC_ANY_CLASS - 1 },
	{ "transfer", NUMBER, FIELD(transfer), 100, 10000 },
	{ "transfer_class", NUMBER, FIELD(transfer_class), 0, VC_ANY_CLASS - 1 },
	{ "pace", NUMBER, FIELD(pace), 100, 10000 },
	{ "pace_harts", NUMBER, FIELD(pace_harts), 1, UINT64_MAX },
	{ "race-check", SWITCH, FIELD(race_check), 0, 0 },
	{ "jitter", JITTER, FIELD(jitter), 1, UINT64_MAX },
	{ "spin-limit", NUMBER, FIELD(spin_limit), 0, UINT64_MAX },
	{ "watchdog", SMALL, FIELD(watchdog_ms), 50, 600000 },
	{ "lines", SMALL, FIELD(lines), 0, 1000 },
};

static bool parse_number(const char *value, const struct key *key, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(value, &end, 0);
	return !errno && end != value && !*end && value[0] != '-' && *out >= key->low && *out <= key->high;
}

static bool parse_choice(const char *value, const char *no, const char *yes, bool *out)
{
	*out = !strcmp(value, yes);
	return *out || !strcmp(value, no);
}

static bool parse_pin(const char *value, const struct key *key, int *out)
{
	uint64_t core = 0;

	if (!strcmp(value, "off"))
		*out = VC_PIN_OFF;
	else if (!strcmp(value, "auto"))
		*out = VC_PIN_AUTO;
	else if (parse_number(value, key, &core))
		*out = (int)core;
	else
		return false;
	return true;
}

static bool parse_word(const char *value, const char *const *words, unsigned count, unsigned *out)
{
	for (*out = 0; *out < count; ++*out)
		if (!strcmp(value, words[*out]))
			return true;
	return false;
}

static bool parse_switch_by(const char *value, unsigned *out)
{
	static const char *const words[] = { [VC_SWITCH_AUTO] = "auto", [VC_SWITCH_USER] = "user", [VC_SWITCH_FUTEX] = "futex" };

	return parse_word(value, words, sizeof(words) / sizeof(words[0]), out);
}

static bool parse_data(const char *value, unsigned *out)
{
#define HZ_WORD(constant, word, ...) word,
	static const char *const words[] = { HZ_CLOCK_DATA_LIST(HZ_WORD) };
#undef HZ_WORD

	return parse_word(value, words, HZ_CLOCK_DATAS, out);
}

/* SEED or SEED:PERMILLE */
static bool parse_jitter(const char *value, const struct key *key, struct vc_jitter_option *out)
{
	static const struct key permille = { .low = 1, .high = 10000 };
	const char *colon = strchr(value, ':');
	size_t length = colon ? (size_t)(colon - value) : strlen(value);
	char seed[24];

	if (length >= sizeof(seed))
		return false;
	memcpy(seed, value, length);
	seed[length] = 0;
	out->permille = 100;
	return parse_number(seed, key, &out->seed) && (!colon || parse_number(colon + 1, &permille, &out->permille));
}

static bool set(struct vc_options *options, const struct key *key, const char *value)
{
	void *field = (char *)options + key->offset;
	uint64_t number = 0;
	bool good = true;

	switch (key->kind) {
	case TEXT:
	case PRESET: *(const char **)field = value; return *value != 0;
	case NUMBER:
		good = parse_number(value, key, &number);
		*(uint64_t *)field = number;
		return good;
	case SMALL:
		good = parse_number(value, key, &number);
		*(unsigned *)field = (unsigned)number;
		return good;
	case SWITCH: return parse_choice(value, "off", "on", field);
	case DATA: return parse_data(value, field);
	case READS: return parse_choice(value, "queue", "merge", field);
	case BUSY: return parse_choice(value, "occupancy", "access", field);
	case ARBITER: return parse_choice(value, "arrival", "turns", field);
	case LR: return parse_choice(value, "read", "write", field);
	case COUNT: return parse_choice(value, "segment", "insn", field);
	case PIN: return parse_pin(value, key, field);
	case JITTER: return parse_jitter(value, key, field);
	case SWITCH_BY: return parse_switch_by(value, field);
	}
	return false;
}

static const struct key *find(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i].name) == length && !strncmp(keys[i].name, name, length))
			return &keys[i];
	return NULL;
}

static void take_costs(struct vc_options *options, enum hz_clock_preset preset)
{
	struct hz_clock_costs from;

	hz_clock_preset_costs(preset, &from);
	options->mhz = from.mhz;
	options->cost = (struct vc_costs){ .insn = from.insn,
					   .local = from.local,
					   .remote = from.remote,
					   .far = from.far,
					   .memory = from.memory,
					   .occupancy = from.occupancy,
					   .wake = from.wake,
					   .pause = from.pause,
					   .ipi = from.ipi,
					   .load = from.load,
					   .store = from.store,
					   .mul = from.mul,
					   .div = from.div,
					   .branch = from.branch,
					   .csr = from.csr,
					   .div_bit = from.div_bit,
					   .loop_exit = from.loop_exit,
					   .clean = from.clean,
					   .l2 = from.l2,
					   .dispatch = from.dispatch,
					   .pause_multiple = from.pause_multiple };
	options->data = from.data;
	options->busy_access = from.busy == HZ_BUSY_ACCESS;
	options->turns = from.arbiter == HZ_ARBITER_TURNS;
	options->lr_alone = from.lr == HZ_LR_WRITE;
	options->l2_bytes = from.l2_bytes;
	options->l2_ways = from.l2_ways;
	options->merge = from.reads == HZ_READS_MERGE;
	options->cluster = from.cluster;
	options->cache_bytes = from.cache_bytes;
	options->cache_ways = from.cache_ways;
	options->store_buffer = from.store_buffer;
}

/* Apply the preset first, wherever it stands on the line; single costs then override it. */
static bool apply_preset(struct vc_options *options, int argc, char **argv, char *text, size_t bytes)
{
#define HZ_WORD(constant, word, ...) word,
	static const char *const words[] = { HZ_CLOCK_PRESET_LIST(HZ_WORD) };
#undef HZ_WORD
#define HZ_WORD(constant, word, ...) " " word

	options->preset = words[HZ_CLOCK_ROCKET];
	for (int i = 0; i < argc; i++)
		if (!strncmp(argv[i], "preset=", 7))
			options->preset = argv[i] + 7;
	for (unsigned p = 0; p < HZ_CLOCK_PRESETS; p++)
		if (!strcmp(options->preset, words[p])) {
			take_costs(options, (enum hz_clock_preset)p);
			return true;
		}
	snprintf(text, bytes, "preset=%s is unknown:" HZ_CLOCK_PRESET_LIST(HZ_WORD), options->preset);
#undef HZ_WORD
	return false;
}

static bool cache_is_possible(const char *key, uint64_t size, unsigned ways, char *text, size_t bytes)
{
	if (hz_cache_is_possible((uint32_t)size, ways))
		return true;
	snprintf(text, bytes, "option %s=%u is not possible with %u ways of 64 bytes: their quotient must be a power of two", key,
		 (unsigned)size, ways);
	return false;
}

bool vc_options_parse(struct vc_options *options, int argc, char **argv, char *text, size_t bytes)
{
	*options = (struct vc_options){ .pin = VC_PIN_AUTO,
					.spin_limit = 20000000,
					.native = true,
					.watchdog_ms = 3000,
					.lines = 16,
					.hold = 1000,
					.hold_class = VC_ANY_CLASS,
					.transfer = 1000,
					.transfer_class = VC_ANY_CLASS,
					.pace = 1000 };
	if (!apply_preset(options, argc, argv, text, bytes))
		return false;
	for (int i = 0; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');
		const struct key *key = equals ? find(argv[i], (size_t)(equals - argv[i])) : NULL;

		if (!key) {
			snprintf(text, bytes, "option %s is unknown", argv[i]);
			return false;
		}
		if (!set(options, key, equals + 1)) {
			snprintf(text, bytes, "option %s has a value that is not allowed", argv[i]);
			return false;
		}
	}
	if (!options->locks && (options->hold != 1000 || options->transfer != 1000)) {
		snprintf(text, bytes, "option %s needs locks=on: a device with locks: {stats: all}",
			 options->hold != 1000 ? "hold" : "transfer");
		return false;
	}
	if ((options->pace == 1000) != !options->pace_harts) {
		snprintf(text, bytes, "options pace=PERMILLE, other than 1000, and pace_harts=MASK go together");
		return false;
	}
	if ((options->hold == 1000 && options->hold_class != VC_ANY_CLASS) ||
	    (options->transfer == 1000 && options->transfer_class != VC_ANY_CLASS)) {
		snprintf(text, bytes,
			 "options hold_class and transfer_class say which locks hold and transfer are for: one of these is missing");
		return false;
	}
	if (!cache_is_possible("cache_bytes", options->cache_bytes, options->cache_ways, text, bytes) ||
	    !cache_is_possible("l2_bytes", options->l2_bytes, options->l2_ways, text, bytes))
		return false;
	if (options->turns && !options->cost.dispatch) {
		snprintf(text, bytes, "option arbiter=turns needs dispatch=CYCLES, 1 or more");
		return false;
	}
	if (!options->ram) {
		snprintf(text, bytes, "option ram=FILE is missing: the file behind the guest's RAM (memory-backend-file, share=on)");
		return false;
	}
	return true;
}
