/* Header and clean marks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_header.h"

#include <string.h>

#include "nand/nand_checksum.h"

/* --- header --- */

static bool known_version(uint32_t version) { return version >= HZ_NAND_VERSION && version <= HZ_NAND_VERSION_LAST; }

bool nand_header_good(const struct hz_nand_header *header)
{
	return header->magic == HZ_NAND_MAGIC && known_version(header->version) && header->header_bytes == sizeof(*header) &&
	       header->checksum == nand_header_checksum(header);
}

static bool blank(const uint8_t *at, uint64_t bytes)
{
	const uint64_t *word = (const uint64_t *)at;
	uint64_t seen = 0;

	for (uint64_t i = 0; i < bytes / sizeof(*word) && !seen; i++)
		seen = word[i];
	return !seen;
}

enum nand_header_state nand_header_find(const uint8_t *base, uint64_t bytes, uint64_t formatted, const struct hz_nand_header **header,
					uint32_t *version)
{
	const struct hz_nand_header *first = (const struct hz_nand_header *)base, *copy;

	if (bytes < 2 * HZ_NAND_HEADER_BYTES)
		return blank(base, bytes) ? NAND_HEADER_NEW : NAND_HEADER_FOREIGN;
	copy = (const struct hz_nand_header *)(base + bytes - HZ_NAND_HEADER_BYTES);
	*header = nand_header_good(first) ? first : copy;
	if (nand_header_good(*header))
		return NAND_HEADER_GOOD;
	*version = first->version;
	if (first->magic == HZ_NAND_MAGIC && !known_version(first->version))
		return NAND_HEADER_OTHER;
	if (first->magic == HZ_NAND_MAGIC || copy->magic == HZ_NAND_MAGIC)
		return NAND_HEADER_DAMAGED;
	if (first->magic)
		return NAND_HEADER_FOREIGN;
	if (!blank(base, formatted < bytes ? formatted : bytes) || !blank((const uint8_t *)copy, HZ_NAND_HEADER_BYTES))
		return NAND_HEADER_DAMAGED;
	return NAND_HEADER_NEW;
}

/* While the first copy is being changed its checksum is wrong, and the other one counts. */
void nand_header_store(struct nand_media *media)
{
	uint8_t *first = (uint8_t *)media->header, *copy = first + media->header_copy_offset;

	memset(first + HZ_NAND_CONFIG_OFFSET, 0, HZ_NAND_HEADER_BYTES - HZ_NAND_CONFIG_OFFSET);
	memcpy(first + HZ_NAND_CONFIG_OFFSET, media->nand.cfg, sizeof(*media->nand.cfg));
	media->header->checksum = nand_header_checksum(media->header);
	nand_crash_order();
	memcpy(copy, first, sizeof(*media->header));
	memcpy(copy + HZ_NAND_CONFIG_OFFSET, first + HZ_NAND_CONFIG_OFFSET, HZ_NAND_HEADER_BYTES - HZ_NAND_CONFIG_OFFSET);
}

/* --- clean marks --- */

static uint64_t word_of(uint32_t record, uint32_t mark) { return (uint64_t)record << 32 | (record ^ mark); }

static uint64_t *mark_word(const struct nand_media *media, uint32_t window, bool copy)
{
	return (uint64_t *)((uint8_t *)media->header + (copy ? media->header_copy_offset : 0) + HZ_NAND_CLEAN_MARK_OFFSET) - window;
}

/* A clean mark: the copy first, so that a writer killed in between leaves "changed" in the word that counts. */
static void write_mark(struct nand_media *media, uint32_t window, uint32_t record, uint32_t mark)
{
	bool copy_first = mark == HZ_NAND_CLEAN;

	__atomic_store_n(mark_word(media, window, copy_first), word_of(record, mark), __ATOMIC_RELEASE);
	nand_crash_order();
	__atomic_store_n(mark_word(media, window, !copy_first), word_of(record, mark), __ATOMIC_RELEASE);
	lt_store(&media->clean_mark[window], word_of(record, mark));
}

static bool is_clean(uint64_t word) { return ((uint32_t)word ^ (uint32_t)(word >> 32)) == HZ_NAND_CLEAN; }

static bool good_word(uint64_t word) { return is_clean(word) || ((uint32_t)word ^ (uint32_t)(word >> 32)) == HZ_NAND_CHANGED; }

/* Neither is good: the zones' records are no longer known to be the last word. */
static void open_word(struct nand_media *media, uint32_t window)
{
	uint64_t word = *mark_word(media, window, false);

	if (!good_word(word))
		word = *mark_word(media, window, true);
	if (!good_word(word))
		word = word_of(0, HZ_NAND_CHANGED);
	write_mark(media, window, (uint32_t)(word >> 32), is_clean(word) ? HZ_NAND_CLEAN : HZ_NAND_CHANGED);
}

void nand_clean_mark_open(struct nand_media *media)
{
	for (uint32_t i = 0; i < media->nand.cfg->namespaces; i++)
		open_word(media, i);
}

static void end_clean_mark_of(struct nand_media *media, uint32_t window)
{
	uint64_t word = lt_load(&media->clean_mark[window]);

	if (is_clean(word))
		write_mark(media, window, (uint32_t)(word >> 32), HZ_NAND_CHANGED);
}

static uint32_t window_of(const struct nand_media *media, uint32_t flat_block)
{
	const struct hz_device_config *cfg = media->nand.cfg;

	return hz_window_at(cfg, media->window, flat_block / cfg->blocks_per_plane, flat_block % cfg->blocks_per_plane);
}

void nand_clean_mark_end(struct nand_media *media, uint32_t flat_block)
{
	uint32_t count = media->nand.cfg->namespaces, window = count == 1 ? 0 : window_of(media, flat_block);

	if (window < count)
		end_clean_mark_of(media, window);
}

struct nand_clean_mark nand_clean_mark_read(struct nand *nand, uint32_t window)
{
	uint64_t word = lt_load(&((struct nand_media *)nand)->clean_mark[window]);

	return (struct nand_clean_mark){ .record = (uint32_t)(word >> 32), .clean = is_clean(word) };
}

void nand_clean_mark_set(struct nand *nand, uint32_t window, uint32_t record)
{
	struct nand_media *media = (struct nand_media *)nand;

	if (lt_load(&media->off))
		return;
	clock_freeze();
	write_mark(media, window, record, HZ_NAND_CLEAN);
	clock_thaw();
}
