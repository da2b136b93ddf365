/* Records of the namespaces and of the controller: two copies, one with each copy of the header. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "nand/nand_namespaces.h"

#include <string.h>

#include "nand/nand_checksum.h"
#include "sentence.h"

static struct hz_nand_namespaces *namespaces_at(const struct nand_media *media, bool copy)
{
	return (struct hz_nand_namespaces *)((uint8_t *)media->header + (copy ? media->header_copy_offset : 0) + HZ_NAND_NAMESPACES_OFFSET);
}

/* While the first copy is being changed its checksum is wrong, and the other one counts. */
static void store_namespaces(struct nand_media *media, const struct hz_nand_namespaces *record)
{
	struct hz_nand_namespaces *first = namespaces_at(media, false);

	*first = *record;
	nand_crash_order();
	first->checksum = nand_namespaces_checksum(first);
	nand_crash_order();
	*namespaces_at(media, true) = *first;
}

static uint32_t range_word_of(struct hz_range range) { return hz_range_word(range.first, range.first + range.count - 1); }

static void describe_windows(const struct nand_media *media, struct hz_nand_namespaces *record)
{
	memset(record, 0, sizeof(*record));
	record->count = media->nand.cfg->namespaces;
	for (uint32_t i = 0; i < record->count; i++) {
		record->channels[i] = range_word_of(media->window[i].channel);
		record->chips[i] = range_word_of(media->window[i].chip);
		record->dies[i] = range_word_of(media->window[i].die);
		record->planes[i] = range_word_of(media->window[i].plane);
		record->slot[i].state = HZ_NAMESPACE_ATTACHED;
	}
}

void nand_namespaces_format(struct nand_media *media)
{
	struct hz_nand_namespaces record;

	describe_windows(media, &record);
	store_namespaces(media, &record);
}

static bool is_good_record(const struct hz_nand_namespaces *record)
{
	return record->checksum == nand_namespaces_checksum(record) && record->count && record->count <= HZ_MAX_NAMESPACES;
}

/* An older image has one over the whole device. */
static void describe_old_image(const struct nand_media *media, struct hz_nand_namespaces *record)
{
	const struct hz_device_config *cfg = media->nand.cfg;

	memset(record, 0, sizeof(*record));
	record->count = 1;
	record->channels[0] = hz_range_word(0, cfg->channels - 1);
	record->chips[0] = hz_range_word(0, cfg->chips_per_channel - 1);
	record->dies[0] = hz_range_word(0, cfg->dies_per_chip - 1);
	record->planes[0] = hz_range_word(0, cfg->planes_per_die - 1);
	record->slot[0].state = HZ_NAMESPACE_ATTACHED;
}

static bool is_blank_record(const struct hz_nand_namespaces *record)
{
	static const struct hz_nand_namespaces nothing;

	return memcmp(record, &nothing, sizeof(nothing)) == 0;
}

static const char *other_count(struct nand_media *media, uint32_t count)
{
	struct hz_sentence out = { media->text, sizeof(media->text), 0 };

	hz_say(&out, "The NAND image was made for ");
	hz_say_number(&out, count);
	hz_say(&out, " namespaces, but the device config says ");
	hz_say_number(&out, media->nand.cfg->namespaces);
	hz_say(&out, ": use its own config or a new image.");
	return media->text;
}

static const char *other_place(struct nand_media *media, uint32_t number)
{
	struct hz_sentence out = { media->text, sizeof(media->text), 0 };

	hz_say(&out, "The NAND image was made for other channels, chips, dies or planes of namespace ");
	hz_say_number(&out, number + 1);
	hz_say(&out, " than the device config says: use its own config or a new image.");
	return media->text;
}

static const char *same_windows(struct nand_media *media, const struct hz_nand_namespaces *record)
{
	struct hz_nand_namespaces wanted;

	describe_windows(media, &wanted);
	if (record->count != wanted.count)
		return other_count(media, record->count);
	for (uint32_t i = 0; i < wanted.count; i++)
		if (record->channels[i] != wanted.channels[i] || record->chips[i] != wanted.chips[i] || record->dies[i] != wanted.dies[i] ||
		    record->planes[i] != wanted.planes[i])
			return other_place(media, i);
	return NULL;
}

const char *nand_namespaces_differ(struct nand_media *media)
{
	const struct hz_nand_namespaces *first = namespaces_at(media, false);

	return is_good_record(first) ? same_windows(media, first) : NULL;
}

static const char *open_records(struct nand_media *media)
{
	const struct hz_nand_namespaces *first = namespaces_at(media, false), *copy = namespaces_at(media, true);
	struct hz_nand_namespaces record;
	const char *error;

	if (is_blank_record(first) && is_blank_record(copy))
		describe_old_image(media, &record);
	else if (is_good_record(first) || is_good_record(copy))
		record = is_good_record(first) ? *first : *copy;
	else
		return "The NAND image is damaged: neither copy of the record of its namespaces can be believed.";
	error = same_windows(media, &record);
	if (!error && !is_blank_record(first) && (!is_good_record(first) || !is_good_record(copy)))
		lt_add(&media->repaired, 1);
	if (!error)
		store_namespaces(media, &record);
	return error;
}

const char *nand_namespaces_open(struct nand_media *media)
{
	const char *error;

	clock_freeze();
	error = open_records(media);
	clock_thaw();
	return error;
}

struct nand_namespace nand_namespace_read(struct nand *nand, uint32_t window)
{
	const struct hz_nand_namespaces *record = namespaces_at((const struct nand_media *)nand, false);

	return (struct nand_namespace){ .sectors = record->slot[window].sectors,
					.state = record->slot[window].state,
					.created = record->slot[window].created };
}

void nand_namespace_write(struct nand *nand, uint32_t window, struct nand_namespace to)
{
	struct nand_media *media = (struct nand_media *)nand;
	struct hz_nand_namespaces record;

	if (lt_load(&media->off))
		return;
	clock_freeze();
	record = *namespaces_at(media, false);
	record.slot[window].sectors = to.sectors;
	record.slot[window].state = to.state;
	record.slot[window].created = to.created;
	store_namespaces(media, &record);
	clock_thaw();
}

/* --- controller --- */

static struct hz_nand_controller *controller_at(const struct nand_media *media, bool copy)
{
	return (struct hz_nand_controller *)((uint8_t *)media->header + (copy ? media->header_copy_offset : 0) + HZ_NAND_CONTROLLER_OFFSET);
}

static void store_controller(struct nand_media *media, const struct hz_nand_controller *record)
{
	struct hz_nand_controller *first = controller_at(media, false);

	*first = *record;
	first->checksum = 0;
	nand_crash_order();
	first->checksum = nand_controller_checksum(first);
	nand_crash_order();
	*controller_at(media, true) = *first;
}

void nand_controller_format(struct nand_media *media)
{
	static const struct hz_nand_controller nothing;

	store_controller(media, &nothing);
}

static bool controller_good(const struct hz_nand_controller *record) { return record->checksum == nand_controller_checksum(record); }

static bool controller_blank(const struct hz_nand_controller *record)
{
	static const struct hz_nand_controller nothing;

	return memcmp(record, &nothing, sizeof(nothing)) == 0;
}

static const char *open_controller(struct nand_media *media)
{
	const struct hz_nand_controller *first = controller_at(media, false), *copy = controller_at(media, true);

	if (controller_blank(first) && controller_blank(copy)) {
		nand_controller_format(media);
		return NULL;
	}
	if (!controller_good(first) && !controller_good(copy))
		return "The NAND image is damaged: neither copy of the record of its controller can be believed.";
	if (!controller_good(first) || !controller_good(copy))
		lt_add(&media->repaired, 1);
	store_controller(media, controller_good(first) ? first : copy);
	return NULL;
}

const char *nand_controller_open(struct nand_media *media)
{
	const char *error;

	clock_freeze();
	error = open_controller(media);
	clock_thaw();
	return error;
}

void nand_controller_read(struct nand *nand, struct hz_nand_controller *out)
{
	clock_freeze();
	*out = *controller_at((const struct nand_media *)nand, false);
	clock_thaw();
}

void nand_controller_write(struct nand *nand, const struct hz_nand_controller *to)
{
	struct nand_media *media = (struct nand_media *)nand;

	if (lt_load(&media->off))
		return;
	clock_freeze();
	store_controller(media, to);
	clock_thaw();
}
