/* The table of a device's fields as the programs see it. Its lines are the keys of device_keys.yaml, as device_fields.def has them:
 *
 *	HZ_FIELD(type, member, section, key, echo, unit, least, most, default, image, fault)
 *	HZ_LIST(type, member, items, section, key, echo, unit, least, most, default, image, fault)   a member with several values
 *	HZ_RECORD(type, member)                                                                     a member that is a record …
 *	HZ_PART(member, section, key, echo, unit, least, most, default, image, fault)               … and each of its parts
 *
 * The including file defines all four; the list undefines them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_DEVICE_FIELDS_H
#define HZ_PROTOCOL_DEVICE_FIELDS_H

#include <stdbool.h>

#include "device_config.h"

/* Types of device_keys.yaml. */
enum hz_unit {
	HZ_UNIT_COUNT,
	HZ_UNIT_BYTES,
	HZ_UNIT_SECTORS,
	HZ_UNIT_NS,
	HZ_UNIT_CHOICE,
	HZ_UNIT_TEXT,
	HZ_UNIT_PAGE_NS,
	HZ_UNIT_HARTS,
	HZ_UNIT_RANGES,
	HZ_UNIT_KIND_BY_CLASS,
	HZ_UNIT_GRANULARITY_BY_CLASS,
};

struct hz_field {
	const char *member;             /* as in C: "channels", "slc.read_ns" */
	const char *section, *key;      /* in a device file: "timing.slc", "read"; section "" at the top */
	const char *echo;               /* in result.json; "_": not there */
	const char *const *words;       /* CHOICE: words[i] means least + i */
	uint64_t least, most, fallback; /* of every item */
	uint32_t offset, length_offset; /* in struct hz_device_config; HARTS, RANGES: of the member with the number of valid items */
	uint16_t items, item_bytes;
	enum hz_unit unit;
	bool shape; /* an image keeps it */
	bool fault; /* it injects faults */
};

enum {
	HZ_DEVICE_FIELDS = 0
#define HZ_FIELD(...) +1
#define HZ_LIST(...) +1
#define HZ_RECORD(...)
#define HZ_PART(...) +1
#include "device_fields.def"
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct hz_field hz_device_fields[HZ_DEVICE_FIELDS];

uint64_t hz_field_read(const struct hz_field *field, const struct hz_device_config *cfg, unsigned item);
void hz_field_write(const struct hz_field *field, struct hz_device_config *cfg, unsigned item, uint64_t value);
/* Of the table: another table, another number. */
uint32_t hz_config_version(void);
/* The word of a device file for a member's value; NULL: it has numbers. */
const char *hz_choice_word(const char *member, uint64_t value);
/* "CDPW" … "WPDC", fastest dimension first; NULL beyond HZ_PLANE_SCHEMES. */
const char *hz_plane_scheme_name(uint32_t scheme);
/* A record of the table's defaults; of the least value of every field, where only a few fields matter. */
void hz_device_defaults(struct hz_device_config *cfg);
void hz_device_least(struct hz_device_config *cfg);
#ifdef __cplusplus
}
#endif

#endif
