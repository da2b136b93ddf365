/* The table of a device's fields. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "device_fields.h"

#include <string.h>

#define HZ_WORD(constant, word, text) word,
#define WORDS(list) static const char *const list##_words[] = { HZ_##list##_LIST(HZ_WORD) };
HZ_WORD_LISTS(WORDS)

#define AT(member) offsetof(struct hz_device_config, member)
#define UNIT_COUNT .unit = HZ_UNIT_COUNT
#define UNIT_BYTES .unit = HZ_UNIT_BYTES
#define UNIT_SECTORS .unit = HZ_UNIT_SECTORS
#define UNIT_NS .unit = HZ_UNIT_NS
#define UNIT_CHOICE(list) .unit = HZ_UNIT_CHOICE, .words = list##_words
#define UNIT_TEXT .unit = HZ_UNIT_TEXT
#define UNIT_PAGE_NS .unit = HZ_UNIT_PAGE_NS
#define UNIT_HARTS(length) .unit = HZ_UNIT_HARTS, .length_offset = AT(length)
#define UNIT_RANGES(length) .unit = HZ_UNIT_RANGES, .length_offset = AT(length)
#define UNIT_KIND_BY_CLASS .unit = HZ_UNIT_KIND_BY_CLASS
#define UNIT_GRANULARITY_BY_CLASS .unit = HZ_UNIT_GRANULARITY_BY_CLASS
#define IMAGE_SHAPE true
#define IMAGE_FREE false
#define FAULT_FAULT true
#define FAULT_SOUND false
#define IN_IMAGE_FREE /* there is no IN_IMAGE_SHAPE: lists and parts are not kept */

#define ROW(member_, items_, item_bytes_, section_, key_, echo_, unit_, least_, most_, default_, image_, fault_) \
	{ .member = #member_, \
	  .offset = AT(member_), \
	  .items = items_, \
	  .item_bytes = item_bytes_, \
	  .section = #section_, \
	  .key = #key_, \
	  .echo = #echo_, \
	  UNIT_##unit_, \
	  .least = least_, \
	  .most = most_, \
	  .fallback = default_, \
	  .shape = IMAGE_##image_, \
	  .fault = FAULT_##fault_ },

const struct hz_field hz_device_fields[HZ_DEVICE_FIELDS] = {
#define HZ_FIELD(type, member, section, key, echo, unit, least, most, default_, image, fault) \
	ROW(member, 1, sizeof(type), section, key, echo, unit, least, most, default_, image, fault)
#define HZ_LIST(type, member, items, section, key, echo, unit, least, most, default_, image, fault) \
	ROW(member, items, sizeof(type), section, key, echo, unit, least, most, default_, FREE, fault) IN_IMAGE_##image
#define HZ_RECORD(type, member)
#define HZ_PART(member, section, key, echo, unit, least, most, default_, image, fault) \
	ROW(member, sizeof(((struct hz_device_config *)0)->member) / sizeof(uint32_t), sizeof(uint32_t), section, key, echo, unit, least, \
	    most, default_, FREE, fault) \
	IN_IMAGE_##image
#include "device_fields.def"
};

/* Each part of the records has its line: together they are as long as the records. */
enum {
	PARTS =
#define HZ_FIELD(...)
#define HZ_LIST(...)
#define HZ_RECORD(type, member) -(int)sizeof(type)
#define HZ_PART(member, ...) +(int)sizeof(((struct hz_device_config *)0)->member)
#include "device_fields.def"
};
HZ_STATIC_ASSERT(PARTS == 0, "device_keys.yaml has a key for each part of a record, once");

/* Limits that follow from others. */
HZ_STATIC_ASSERT(HZ_MAX_PAGE_BYTES == HZ_MAX_UNIT_SECTORS * HZ_SECTOR_BYTES, "a page is no larger than a program unit may be");
HZ_STATIC_ASSERT(HZ_MAX_PREFETCH == HZ_MAP_PAGE_ENTRIES - 1, "a prefetch ends with its table page");
HZ_STATIC_ASSERT(HZ_MAX_CONVENTIONAL_BUFFERS == 2 * HZ_MAX_FRONTIERS + 1, "a buffer for each frontier of two streams and the collector's");

const char *hz_plane_scheme_name(uint32_t scheme) { return scheme < HZ_PLANE_SCHEMES ? PLANE_SCHEME_words[scheme] : NULL; }

const char *hz_choice_word(const char *member, uint64_t value)
{
	for (unsigned i = 0; i < HZ_DEVICE_FIELDS; i++) {
		const struct hz_field *field = &hz_device_fields[i];

		if (field->unit == HZ_UNIT_CHOICE && strcmp(field->member, member) == 0 && value >= field->least && value <= field->most)
			return field->words[value - field->least];
	}
	return NULL;
}

uint64_t hz_field_read(const struct hz_field *field, const struct hz_device_config *cfg, unsigned item)
{
	const uint8_t *at = (const uint8_t *)cfg + field->offset + item * field->item_bytes;

	switch (field->item_bytes) {
	case sizeof(uint8_t): return *at;
	case sizeof(uint32_t): return *(const uint32_t *)at;
	default: return *(const uint64_t *)at;
	}
}

void hz_field_write(const struct hz_field *field, struct hz_device_config *cfg, unsigned item, uint64_t value)
{
	uint8_t *at = (uint8_t *)cfg + field->offset + item * field->item_bytes;

	switch (field->item_bytes) {
	case sizeof(uint8_t): *at = (uint8_t)value; break;
	case sizeof(uint32_t): *(uint32_t *)at = (uint32_t)value; break;
	default: *(uint64_t *)at = value;
	}
}

/* FNV-1a over names and places of all fields that a device reads. */
uint32_t hz_config_version(void)
{
	uint32_t hash = 0x811c9dc5;

	for (unsigned i = 0; i < HZ_DEVICE_FIELDS - HZ_HOST_FIELDS; i++) {
		for (const char *c = hz_device_fields[i].member; *c; c++)
			hash = (hash ^ (uint8_t)*c) * 0x01000193;
		hash = (hash ^ hz_device_fields[i].offset) * 0x01000193;
	}
	return hash;
}

static void begin_record(struct hz_device_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->magic = HZ_CONFIG_MAGIC;
	cfg->version = hz_config_version();
	cfg->bytes = HZ_DEVICE_BYTES;
}

static void set_all(const struct hz_field *field, struct hz_device_config *cfg, uint64_t value)
{
	for (unsigned item = 0; item < field->items; item++)
		hz_field_write(field, cfg, item, value);
}

void hz_device_defaults(struct hz_device_config *cfg)
{
	begin_record(cfg);
	for (unsigned i = 0; i < HZ_DEVICE_FIELDS; i++)
		set_all(&hz_device_fields[i], cfg, hz_device_fields[i].fallback);
}

void hz_device_least(struct hz_device_config *cfg)
{
	begin_record(cfg);
	for (unsigned i = 0; i < HZ_DEVICE_FIELDS; i++)
		set_all(&hz_device_fields[i], cfg, hz_device_fields[i].least);
}
