/* Survey of a mounted device. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "survey.h"

#include "buffer/staged.h"
#include "conventional/conv_space.h"
#include "l2p/l2p.h"
#include "tsu/tsu_mount.h"
#include "zone/zone.h"

struct survey {
	struct ftl_zone_survey *out;
	void (*lost)(void *ctx, uint64_t lba);
	void *ctx;
};

static bool readable(struct ftl *ftl, ppa_t ppa)
{
	struct hz_oob oob;

	return ppa != PPA_NONE && tsu_read_now(ftl->tsu, ppa, 1, NULL, 0, &oob) == NAND_OK;
}

static void survey_note(const struct survey *survey, uint64_t lba, bool found)
{
	survey->out->written++;
	if (found)
		return;
	survey->out->lost++;
	survey->lost(survey->ctx, lba);
}

static void look_at_sequential(struct ftl *ftl, const struct zone *zone, const struct survey *survey)
{
	for (uint32_t o = 0; o < zone->ext.wp; o++) {
		ppa_t updated = updates_peek(ftl, zone->ext.start + o);

		survey_note(survey, zone->ext.start + o, readable(ftl, updated != PPA_NONE ? updated : extent_where(&zone->ext, o)));
	}
}

static void look_at_conventional(struct ftl *ftl, const struct zone *zone, const struct survey *survey)
{
	for (uint32_t o = 0; o < ftl->capacity; o++) {
		uint32_t place = l2p_conv_peek(ftl, zone->ext.start + o);

		if (place != L2P_UNMAPPED)
			survey_note(survey, zone->ext.start + o,
				    readable(ftl, extent_where(place_extent(ftl, place), place_offset(ftl, place))));
	}
}

uint32_t ftl_survey_zones(const struct ftl *ftl) { return ftl->zone_count; }

void ftl_survey_zone(struct ftl *ftl, uint32_t number, struct ftl_zone_survey *out, void (*lost)(void *ctx, uint64_t lba), void *ctx)
{
	const struct zone *zone = &ftl->zones[number];
	const struct survey survey = { out, lost, ctx };
	bool conventional = is_conventional(ftl, zone->ext.start);

	*out = (struct ftl_zone_survey){ .state = conventional ? NVME_ZS_NOT_WP : zone->state, .start = zone->ext.start };
	(conventional ? look_at_conventional : look_at_sequential)(ftl, zone, &survey);
}
