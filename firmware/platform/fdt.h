/* Flattened device tree reader (Devicetree Specification 0.4, chapter 5): bounds-checked, never writes, never recurses.
 *
 * The blob is untrusted: any byte string may be given, wrong ones end the walk with FDT_BAD. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PLATFORM_FDT_H
#define PLATFORM_FDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fdt {
	const uint8_t *structure, *strings;
	uint32_t structure_bytes, strings_bytes;
	uint32_t at; /* cursor into structure */
};

enum fdt_token { FDT_BAD, FDT_NODE, FDT_NODE_END, FDT_PROPERTY, FDT_DONE };

struct fdt_item {
	enum fdt_token token;
	const char *name;    /* NODE: with unit address; PROPERTY: property name; NUL inside the blob is guaranteed */
	const uint8_t *data; /* PROPERTY */
	uint32_t bytes;
};

/* readable = accessible bytes from blob on. NULL, or one sentence about the fault. */
const char *fdt_open(struct fdt *fdt, const void *blob, size_t readable);
/* The next token; FDT_DONE and FDT_BAD repeat. */
struct fdt_item fdt_next(struct fdt *fdt);

/* Big-endian cell `index` of a property; 0 beyond its end. */
uint32_t fdt_cell(const struct fdt_item *property, uint32_t index);
/* `cells` cells (0, 1 or 2) from `index` on as one number; a third cell and more are refused by the caller. */
uint64_t fdt_cells(const struct fdt_item *property, uint32_t index, uint32_t cells);
/* True if the string list `property` holds `text`. */
bool fdt_has_string(const struct fdt_item *property, const char *text);

#ifdef __cplusplus
}
#endif

#endif
