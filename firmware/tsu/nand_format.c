/* Opening an image: format a new one, refuse one of another geometry or size. */
#include "tsu/nand_format.h"

#include "sentence.h"
#include "tsu/nand_checksum.h"

static const char *differs(struct nand_media *media, const char *field, uint64_t image, uint64_t config)
{
	struct hz_sentence out = { media->text, sizeof(media->text), 0 };

	hz_say(&out, "The NAND image was made for ");
	hz_say(&out, field);
	hz_say(&out, " ");
	hz_say_number(&out, image);
	hz_say(&out, ", but the device config says ");
	hz_say_number(&out, config);
	hz_say(&out, ": use its own config or a new image.");
	return media->text;
}

static const char *too_small(struct nand_media *media, uint64_t bytes, uint64_t needed)
{
	struct hz_sentence out = { media->text, sizeof(media->text), 0 };

	hz_say(&out, "The NAND image has ");
	hz_say_number(&out, bytes);
	hz_say(&out, " bytes, but this geometry needs ");
	hz_say_number(&out, needed);
	hz_say(&out, ".");
	return media->text;
}

static void format(struct nand_media *media, const struct hz_nand_header *wanted)
{
	const struct hz_device_config *cfg = media->nand.cfg;
	uint64_t blocks = (uint64_t)media->nand.map->shape.planes * cfg->blocks_per_plane;

	for (uint64_t b = 0; cfg->factory_bad_ppb && b < blocks; b++)
		if (nand_mix(nand_mix(cfg->seed, 0xbadull), b) % 1000000000 < cfg->factory_bad_ppb)
			media->blocks[b].flags = HZ_BLOCK_BAD_FACTORY;
	*media->header = *wanted;
	__atomic_store_n(&media->header->magic, HZ_NAND_MAGIC, __ATOMIC_RELEASE);
}

/* The image's clock goes on from the last program it knows of. */
static uint64_t epoch_of(const struct nand_media *media)
{
	const struct hz_device_config *cfg = media->nand.cfg;
	uint64_t blocks = (uint64_t)media->nand.map->shape.planes * cfg->blocks_per_plane, latest_ns = 0;

	clock_freeze();
	for (uint64_t b = 0; b < blocks; b++)
		if (media->blocks[b].program_ns > latest_ns)
			latest_ns = media->blocks[b].program_ns;
	clock_thaw();
	return latest_ns ? latest_ns + cfg->shelf_hours * 3600000000000ull : 0;
}

static struct hz_nand_header header_for(const struct hz_device_config *cfg, const struct hz_nand_layout *layout)
{
	return (struct hz_nand_header){
		.magic = 0, /* set last */
		.version = HZ_NAND_VERSION,
		.header_bytes = sizeof(struct hz_nand_header),
		.channels = cfg->channels,
		.chips_per_channel = cfg->chips_per_channel,
		.dies_per_chip = cfg->dies_per_chip,
		.planes_per_die = cfg->planes_per_die,
		.blocks_per_plane = cfg->blocks_per_plane,
		.pages_per_block = cfg->pages_per_block,
		.page_bytes = cfg->page_bytes,
		.slc_blocks_per_plane = cfg->slc_blocks_per_plane,
		.cell = cfg->cell,
		.media_mode = cfg->media_mode,
		.blocks_offset = layout->blocks_offset,
		.oob_offset = layout->oob_offset,
		.data_offset = layout->data_offset,
		.image_bytes = layout->image_bytes,
	};
}

#define SAME(field) if (old->field != wanted->field) return differs(media, #field, old->field, wanted->field)

static const char *same_header(struct nand_media *media, const struct hz_nand_header *old, const struct hz_nand_header *wanted)
{
	if (old->magic != HZ_NAND_MAGIC)
		return "The NAND image is no image of this program: its magic number is wrong.";
	SAME(version);
	SAME(channels);
	SAME(chips_per_channel);
	SAME(dies_per_chip);
	SAME(planes_per_die);
	SAME(blocks_per_plane);
	SAME(pages_per_block);
	SAME(page_bytes);
	SAME(slc_blocks_per_plane);
	SAME(cell);
	SAME(media_mode);
	SAME(image_bytes);
	return NULL;
}

const char *nand_format_open(struct nand_media *media, uint8_t *base, uint64_t bytes)
{
	struct hz_nand_layout layout;
	struct hz_nand_header wanted;

	hz_nand_layout_of(media->nand.cfg, &layout);
	wanted = header_for(media->nand.cfg, &layout);
	media->header = (struct hz_nand_header *)base;
	if (bytes >= HZ_NAND_HEADER_BYTES && media->header->magic) {
		const char *error = same_header(media, media->header, &wanted);

		if (error)
			return error;
	}
	if (bytes < layout.image_bytes)
		return too_small(media, bytes, layout.image_bytes);
	media->blocks = (struct hz_nand_block *)(base + layout.blocks_offset);
	media->oob = (struct hz_oob *)(base + layout.oob_offset);
	media->data = base + layout.data_offset;
	media->data_blocks = layout.data_blocks;
	media->data_sectors = layout.data_sectors;
	if (!media->header->magic)
		format(media, &wanted);
	media->epoch_ns = epoch_of(media);
	return NULL;
}
