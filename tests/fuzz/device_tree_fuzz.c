/* Any device tree: the firmware reads one before it can report anything. Each input is read twice: as the raw blob, and as a script
 * that builds a tree with plausible names and values, cut and patched at random, since chance alone does not find "compatible". */
/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "platform/machine.h"

enum { HEADER_BYTES = 40, MOST = 16384 };

static const char strings[] = "compatible\0device_type\0reg\0ranges\0bootargs\0timebase-frequency\0#address-cells\0#size-cells\0x";
static const uint8_t string_offset[] = {0, 11, 23, 27, 34, 43, 62, 77, 89};
static const char *const values[] = {"cpu",      "memory",        "virtio,mmio",  "pci-host-ecam-generic",
				     "ns16550a", "sifive,clint0", "sifive,test0", ""};

struct script {
	const uint8_t *at;
	size_t left;
};
struct blob {
	uint8_t byte[MOST];
	uint32_t bytes;
};

static uint8_t take(struct script *script)
{
	if (!script->left)
		return 0;
	script->left--;
	return *script->at++;
}

static void put32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void add(struct blob *blob, const void *data, uint32_t bytes)
{
	memcpy(blob->byte + blob->bytes, data, bytes);
	blob->bytes += (bytes + 3) & ~3u;
}

static void add32(struct blob *blob, uint32_t value)
{
	put32(blob->byte + blob->bytes, value);
	blob->bytes += 4;
}

static void add_property(struct blob *blob, struct script *script)
{
	uint8_t what = take(script), raw[64];
	uint32_t bytes = take(script) % sizeof(raw);
	const char *value = values[what / 16 % 8];

	add32(blob, 3);
	add32(blob, what & 1 ? bytes : (uint32_t)strlen(value) + 1);
	add32(blob, string_offset[what / 2 % 8 % sizeof(string_offset)]);
	if (what & 1) {
		for (uint32_t i = 0; i < bytes; i++)
			raw[i] = i % 4 < 3 ? (take(script) & 1) * 0xff : take(script);
		add(blob, raw, bytes);
	} else {
		add(blob, value, (uint32_t)strlen(value) + 1);
	}
}

static void add_token(struct blob *blob, struct script *script)
{
	switch (take(script) % 8) {
	case 0:
		add32(blob, 1);
		add(blob, "n", 2);
		break;
	case 1: add32(blob, 2); break;
	case 2: add32(blob, take(script)); break;
	default: add_property(blob, script);
	}
}

static void build(struct blob *blob, struct script *script)
{
	memset(blob, 0, sizeof(*blob));
	blob->bytes = HEADER_BYTES;
	add(blob, strings, sizeof(strings));
	uint32_t start = blob->bytes;

	while (script->left && blob->bytes < MOST - 256)
		add_token(blob, script);
	add32(blob, 9);
	put32(blob->byte, 0xd00dfeed);
	put32(blob->byte + 4, blob->bytes);
	put32(blob->byte + 8, start);
	put32(blob->byte + 12, HEADER_BYTES);
	put32(blob->byte + 24, 16);
	put32(blob->byte + 32, sizeof(strings));
	put32(blob->byte + 36, blob->bytes - start);
}

/* On the heap and of the exact size, so that the sanitizer sees any read behind it. */
static void read_exactly(const uint8_t *data, size_t bytes)
{
	struct machine machine;
	uint8_t *exact = malloc(bytes ? bytes : 1);

	memcpy(exact, data, bytes);
	if (!machine_read(&machine, exact, bytes) && (machine.harts == 0 || machine.harts > 64))
		abort();
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct blob blob;
	struct script script = {data, size};

	read_exactly(data, size);
	uint32_t patch = take(&script) << 8 | take(&script);
	uint8_t value = take(&script);

	build(&blob, &script);
	if (patch & 0x8000)
		blob.byte[(patch & 0x7fff) % blob.bytes] = value;
	read_exactly(blob.byte, blob.bytes);
	return 0;
}
