/* Opening an image: format a new one, repair an old one, refuse one that is foreign, damaged beyond repair, or of another shape. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_format.h"

#include <string.h>

#include "nand/nand_block.h"
#include "nand/nand_header.h"
#include "device_fields.h"
#include "nand/nand_namespaces.h"
#include "nand/nand_oob.h"
#include "sentence.h"

HZ_STATIC_ASSERT(HZ_NAND_VERSION == 4, "a sentence below names it");

/* "<begin><a><middle><b><end>", in media->text. */
static const char *say_of_two(struct nand_media *media, const char *begin, uint64_t a, const char *middle, uint64_t b, const char *end)
{
	struct hz_sentence out = { media->text, sizeof(media->text), 0 };

	hz_say(&out, begin);
	hz_say_number(&out, a);
	hz_say(&out, middle);
	hz_say_number(&out, b);
	hz_say(&out, end);
	return media->text;
}

static void say_member_value(struct hz_sentence *out, const char *member, uint64_t value)
{
	const char *word = hz_choice_word(member, value);

	if (word)
		hz_say(out, word);
	else
		hz_say_number(out, value);
}

static const char *other_member(struct nand_media *media, const char *member, uint64_t old, uint64_t wanted)
{
	struct hz_sentence out = { media->text, sizeof(media->text), 0 };

	hz_say(&out, "The NAND image was made for ");
	hz_say(&out, member);
	hz_say(&out, " ");
	say_member_value(&out, member, old);
	hz_say(&out, ", but the device config says ");
	say_member_value(&out, member, wanted);
	hz_say(&out, ": use its own config or a new image.");
	return media->text;
}

static const char *too_small(struct nand_media *media, uint64_t bytes, uint64_t needed)
{
	return say_of_two(media, "The NAND image has ", bytes, " bytes, but this geometry needs ", needed, ".");
}

/* "formatting" stands until all is there. */
static void format(struct nand_media *media, const struct hz_nand_header *wanted)
{
	clock_freeze();
	*media->header = *wanted;
	media->header->formatting = 1;
	nand_header_store(media);
	nand_blocks_format(media);
	nand_namespaces_format(media);
	nand_controller_format(media);
	nand_keep_nothing(&media->nand);
	nand_crash_order();
	media->header->formatting = 0;
	nand_header_store(media);
	clock_thaw();
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

static struct hz_nand_header header_for(const struct hz_device_config *cfg, const struct hz_shape *shape, uint64_t image_bytes)
{
	return (struct hz_nand_header){
		.magic = HZ_NAND_MAGIC,
		.version = hz_nand_version_of(cfg),
		.header_bytes = sizeof(struct hz_nand_header),
#define HZ_SHAPE(member) .member = cfg->member,
#define HZ_FREE(member)
#define DERIVED(type, member) .member = shape->member,
#define HZ_FIELD(type, member, section, key, echo, unit, least, most, default, image, fault) HZ_##image(member)
#define HZ_LIST(...)
#define HZ_RECORD(...)
#define HZ_PART(...)
#include "device_fields.def"
		HZ_NAND_DERIVED(DERIVED)
#undef HZ_SHAPE
			.image_bytes = image_bytes,
		.superblock_planes = shape->superblock_planes < shape->planes ? shape->superblock_planes : 0,
	};
}

/* With rain: all planes but those of a die. No device of three dies or more has such superblocks otherwise (superblock_planes divides all
 * planes). */
static uint32_t data_planes_of(const struct hz_nand_header *header)
{
	uint32_t dies = header->channels * header->chips_per_channel * header->dies_per_chip;

	return dies > 2 ? (dies - 1) * header->planes_per_die : UINT32_MAX;
}

static const char *same_shape(struct nand_media *media, const struct hz_nand_header *old, const struct hz_nand_header *wanted)
{
#define SAME(field) \
	if (old->field != wanted->field) \
		return other_member(media, #field, old->field, wanted->field);
#define HZ_SHAPE(member) SAME(member)
#define SAME_DERIVED(type, member) SAME(member)
#define HZ_FIELD(type, member, section, key, echo, unit, least, most, default, image, fault) HZ_##image(member)
#define HZ_LIST(...)
#define HZ_RECORD(...)
#define HZ_PART(...)
#include "device_fields.def"
	if (media->nand.map->shape.parity_planes && old->superblock_planes != wanted->superblock_planes)
		return "The NAND image was made without rain, but the device config has it: use its own config or a new image.";
	if (old->superblock_planes == data_planes_of(old) && old->superblock_planes != wanted->superblock_planes)
		return "The NAND image was made with rain, but the device config has none: use its own config or a new image.";
	SAME(superblock_planes)
	if (old->version + HZ_NAND_VERSION_KEPT == wanted->version)
		return "The NAND image has no room for what capacitors protect, since an earlier version made it: use a new image.";
	if (old->version != wanted->version)
		return old->version + HZ_NAND_VERSION_TUPLES == wanted->version
			       ? "The NAND image was made for protection none, but the device config says type1: use its "
				 "own config or a new image."
			       : "The NAND image was made for protection type1, but the device config says none: use its "
				 "own config or a new image.";
	if (nand_namespaces_differ(media))
		return media->text;
	HZ_NAND_DERIVED(SAME_DERIVED)
	SAME(image_bytes)
	return NULL;
}

/* The copy is written with the power history, soon. */
static void repair_header(struct nand_media *media, const struct hz_nand_header *good)
{
	const uint8_t *copy = (const uint8_t *)media->header + media->header_copy_offset;

	if (good == media->header && nand_header_good((const struct hz_nand_header *)copy))
		return;
	lt_add(&media->repaired, 1);
	clock_freeze();
	if (good != media->header)
		memcpy(media->header, good, HZ_NAND_HEADER_BYTES);
	clock_thaw();
}

/* An image of another shape has its second header elsewhere, so the first may be all there is to see. */
static const char *open_header(struct nand_media *media, uint8_t *base, uint64_t bytes, const struct hz_nand_header *wanted,
			       const struct hz_nand_layout *layout, bool *is_new)
{
	const struct hz_nand_header *header = NULL;
	uint32_t version = 0;

	switch (nand_header_find(base, bytes, layout->oob_offset, &header, &version)) {
	case NAND_HEADER_NEW: *is_new = true; return bytes < layout->image_bytes ? too_small(media, bytes, layout->image_bytes) : NULL;
	case NAND_HEADER_FOREIGN: return "The NAND image is no image of this program: its magic number is wrong.";
	case NAND_HEADER_OTHER:
		return say_of_two(media, "The NAND image has format version ", version, ", but this firmware reads versions 4 to ",
				  HZ_NAND_VERSION_LAST, ": use a new image.");
	case NAND_HEADER_DAMAGED:
		return "The NAND image is damaged: its header cannot be believed in either of its two copies, so nothing of it can be read.";
	default: break;
	}
	if (same_shape(media, header, wanted))
		return same_shape(media, header, wanted);
	if (bytes < layout->image_bytes)
		return too_small(media, bytes, layout->image_bytes);
	*is_new = header->formatting;
	repair_header(media, header);
	return NULL;
}

const char *nand_format_open(struct nand_media *media, uint8_t *base, uint64_t bytes)
{
	struct hz_nand_layout layout;
	struct hz_nand_header wanted;
	struct hz_shape shape;
	bool is_new = false;
	const char *error;

	hz_nand_layout_of(media->nand.cfg, &layout);
	hz_namespace_shape(media->nand.cfg, 0, &shape);
	wanted = header_for(media->nand.cfg, &shape, layout.image_bytes);
	media->header = (struct hz_nand_header *)base;
	media->header_copy_offset = layout.header_copy_offset;
	error = open_header(media, base, bytes, &wanted, &layout, &is_new);
	if (error)
		return error;
	media->blocks = (struct hz_nand_block *)(base + layout.blocks_offset);
	media->blocks_copy = (struct hz_nand_block *)(base + layout.blocks_copy_offset);
	media->oob = (struct hz_nand_oob *)(base + layout.oob_offset);
	media->oob_copy = (struct hz_nand_oob *)(base + layout.oob_copy_offset);
	media->data = base + layout.data_offset;
	media->tuples = layout.tuples_offset ? (uint64_t *)(base + layout.tuples_offset) : NULL;
	media->kept = (struct nand_kept){ .places = layout.kept_places,
					  .stride = hz_sector_memory(media->nand.cfg),
					  .record = (struct hz_nand_oob *)(base + layout.kept_offset),
					  .data = base + layout.kept_data_offset };
	media->data_blocks = layout.data_blocks;
	media->data_sectors = layout.data_sectors;
	if (is_new)
		format(media, &wanted);
	nand_clean_mark_open(media);
	error = nand_namespaces_open(media);
	if (!error)
		error = nand_controller_open(media);
	if (!error && !is_new)
		error = nand_blocks_open(media);
	if (!error)
		media->epoch_ns = epoch_of(media);
	return error;
}
