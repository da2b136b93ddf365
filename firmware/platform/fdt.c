/* Flattened device tree reader. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/fdt.h"

#include <string.h>

enum {
	FDT_MAGIC = 0xd00dfeed,
	FDT_HEADER_BYTES = 40,
	FDT_LAST_COMPATIBLE = 17,
	FDT_TAG_BEGIN_NODE = 1,
	FDT_TAG_END_NODE = 2,
	FDT_TAG_PROP = 3,
	FDT_TAG_NOP = 4,
	FDT_TAG_END = 9,
};

static uint32_t big32(const uint8_t *p) { return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]; }

static bool inside(uint32_t offset, uint32_t bytes, uint32_t limit) { return offset <= limit && bytes <= limit - offset; }

const char *fdt_open(struct fdt *fdt, const void *blob, size_t readable)
{
	const uint8_t *p = blob;

	if (readable < FDT_HEADER_BYTES || big32(p) != FDT_MAGIC)
		return "device tree: no magic number";
	uint32_t total = big32(p + 4), structure = big32(p + 8), strings = big32(p + 12);

	if (total > readable)
		return "device tree: larger than the memory it lies in";
	if (big32(p + 24) > FDT_LAST_COMPATIBLE)
		return "device tree: unknown version";
	fdt->strings_bytes = big32(p + 32);
	fdt->structure_bytes = big32(p + 36);
	if (!inside(structure, fdt->structure_bytes, total) || !inside(strings, fdt->strings_bytes, total))
		return "device tree: a block reaches beyond its end";
	fdt->structure = p + structure;
	fdt->strings = p + strings;
	fdt->at = 0;
	return NULL;
}

static const char *text_at(const uint8_t *block, uint32_t offset, uint32_t limit, uint32_t *length)
{
	for (uint32_t i = offset; i < limit; i++)
		if (!block[i]) {
			*length = i - offset;
			return (const char *)block + offset;
		}
	return NULL;
}

static bool take_cell(struct fdt *fdt, uint32_t *value)
{
	if (!inside(fdt->at, 4, fdt->structure_bytes))
		return false;
	*value = big32(fdt->structure + fdt->at);
	fdt->at += 4;
	return true;
}

/* Move the cursor over `bytes` and up to the next cell; false if that is outside. */
static bool skip_padded(struct fdt *fdt, uint32_t bytes)
{
	if (!inside(fdt->at, bytes, fdt->structure_bytes))
		return false;
	uint32_t end = fdt->at + bytes, pad = -end & 3;

	if (!inside(end, pad, fdt->structure_bytes))
		return false;
	fdt->at = end + pad;
	return true;
}

static struct fdt_item take_node(struct fdt *fdt)
{
	struct fdt_item item = { .token = FDT_NODE };
	uint32_t length;

	item.name = text_at(fdt->structure, fdt->at, fdt->structure_bytes, &length);
	if (!item.name || !skip_padded(fdt, length + 1))
		item.token = FDT_BAD;
	return item;
}

static struct fdt_item take_property(struct fdt *fdt)
{
	struct fdt_item item = { .token = FDT_PROPERTY };
	uint32_t name, length;

	if (!take_cell(fdt, &item.bytes) || !take_cell(fdt, &name))
		return (struct fdt_item){ .token = FDT_BAD };
	item.name = text_at(fdt->strings, name, fdt->strings_bytes, &length);
	item.data = fdt->structure + fdt->at;
	if (!item.name || !skip_padded(fdt, item.bytes))
		item.token = FDT_BAD;
	return item;
}

struct fdt_item fdt_next(struct fdt *fdt)
{
	struct fdt_item item = { .token = FDT_BAD };
	uint32_t start, tag;

	do {
		start = fdt->at;
		if (!take_cell(fdt, &tag))
			return item;
	} while (tag == FDT_TAG_NOP);
	switch (tag) {
	case FDT_TAG_BEGIN_NODE: item = take_node(fdt); break;
	case FDT_TAG_END_NODE: item.token = FDT_NODE_END; break;
	case FDT_TAG_PROP: item = take_property(fdt); break;
	case FDT_TAG_END: item.token = FDT_DONE; break;
	}
	if (item.token == FDT_BAD || item.token == FDT_DONE)
		fdt->at = start;
	return item;
}

uint32_t fdt_cell(const struct fdt_item *property, uint32_t index)
{
	return index < property->bytes / 4 ? big32(property->data + (size_t)index * 4) : 0;
}

uint64_t fdt_cells(const struct fdt_item *property, uint32_t index, uint32_t cells)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < cells; i++)
		value = value << 32 | fdt_cell(property, index + i);
	return value;
}

bool fdt_has_string(const struct fdt_item *property, const char *text)
{
	uint32_t length;

	for (uint32_t at = 0; at < property->bytes; at += length + 1) {
		const char *entry = text_at(property->data, at, property->bytes, &length);

		if (!entry)
			return false;
		if (strcmp(entry, text) == 0)
			return true;
	}
	return false;
}
