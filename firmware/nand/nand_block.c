/* The block table. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_block.h"

#include "sentence.h"
#include "nand/nand_checksum.h"

static uint32_t block_count(const struct nand_media *media) { return media->nand.map->shape.planes * media->nand.cfg->blocks_per_plane; }

void nand_block_store(struct nand_media *media, uint32_t number)
{
	struct hz_nand_block *block = &media->blocks[number];

	block->checksum = nand_block_checksum(block, number);
	nand_crash_order();
	media->blocks_copy[number] = *block;
}

static bool block_good(const struct hz_nand_block *block, uint32_t number) { return block->checksum == nand_block_checksum(block, number); }

void nand_blocks_format(struct nand_media *media)
{
	const struct hz_device_config *cfg = media->nand.cfg;

	for (uint32_t b = 0; b < block_count(media); b++) {
		bool bad = cfg->factory_bad_ppb && nand_mix(nand_mix(cfg->seed, 0xbadull), b) % 1000000000 < cfg->factory_bad_ppb;

		media->blocks[b] = (struct hz_nand_block){ .flags = bad ? HZ_BLOCK_BAD_FACTORY : 0 };
		nand_block_store(media, b);
	}
}

/* Values that no media would have written. */
static const char *impossible(const struct nand_media *media, const struct hz_nand_block *block, uint32_t in_plane)
{
	uint32_t region = in_plane >= media->nand.map->slc_superblocks;

	if (block->write_sector > media->sectors_per_block[region])
		return "its write_sector is beyond the block's end";
	if (block->write_sector % media->unit[region])
		return "its write_sector is inside a program unit";
	return block->flags & ~(uint32_t)HZ_BLOCK_FLAGS ? "its flags are none that exist" : NULL;
}

static const char *refuse_block(struct nand_media *media, uint32_t number, const char *why)
{
	struct hz_sentence out = { media->text, sizeof(media->text), 0 };

	hz_say(&out, "The NAND image is damaged: block table, entry of block ");
	hz_say_number(&out, number % media->nand.cfg->blocks_per_plane);
	hz_say(&out, " of plane ");
	hz_say_number(&out, number / media->nand.cfg->blocks_per_plane);
	hz_say(&out, ": ");
	hz_say(&out, why);
	hz_say(&out, "; hartzone image check tells what can still be read.");
	return media->text;
}

/* read_count is no part of a repair: it is lost. */
static const char *open_block(struct nand_media *media, uint32_t number, uint32_t in_plane)
{
	struct hz_nand_block *block = &media->blocks[number], *copy = &media->blocks_copy[number];
	bool good = block_good(block, number), copy_good = block_good(copy, number);
	const char *why;

	if (!good && !copy_good)
		return refuse_block(media, number, "neither of its two copies has the right checksum");
	if (!good || !copy_good || block->checksum != copy->checksum) {
		*(good ? copy : block) = *(good ? block : copy);
		lt_add(&media->repaired, 1);
	}
	why = impossible(media, block, in_plane);
	return why ? refuse_block(media, number, why) : NULL;
}

/* For every block: number and place in its plane. NULL or the first sentence. */
static const char *each_block(struct nand_media *media, const char *(*look)(struct nand_media *media, uint32_t number, uint32_t in_plane))
{
	uint32_t in_plane = 0;

	for (uint32_t b = 0; b < block_count(media); b++) {
		const char *error = look(media, b, in_plane);

		if (error)
			return error;
		in_plane = in_plane + 1 == media->nand.cfg->blocks_per_plane ? 0 : in_plane + 1;
	}
	return NULL;
}

const char *nand_blocks_open(struct nand_media *media) { return each_block(media, open_block); }

static const char *guess_block(struct nand_media *media, uint32_t number, uint32_t in_plane)
{
	if (!open_block(media, number, in_plane))
		return NULL;
	media->blocks[number] = (struct hz_nand_block){
		.write_sector = media->sectors_per_block[in_plane >= media->nand.map->slc_superblocks],
	};
	nand_block_store(media, number);
	return NULL;
}

void nand_blocks_guess(struct nand_media *media) { each_block(media, guess_block); }
