/* Survey of a mounted device. */
#include "survey.h"

#include "base/context.h"

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

static void note(const struct survey *survey, uint64_t lba, bool found)
{
	survey->out->written++;
	if (found)
		return;
	survey->out->lost++;
	survey->lost(survey->ctx, lba);
}

static void look_at_sequential(struct ftl *ftl, const struct zone *zone, const struct survey *survey)
{
	for (uint32_t o = 0; o < zone->wp; o++)
		note(survey, zone->start + o, readable(ftl, zone_where(zone, o)));
}

static void look_at_conventional(struct ftl *ftl, const struct zone *zone, const struct survey *survey)
{
	for (uint32_t o = 0; o < ftl->page.capacity; o++) {
		uint32_t place = l2p_page_peek(ftl, zone->start + o);

		if (place != L2P_UNMAPPED)
			note(survey, zone->start + o, readable(ftl, zone_where(page_zone_of(ftl, place), page_offset_of(ftl, place))));
	}
}

uint32_t ftl_survey_zones(const struct ftl *ftl)
{
	return ftl->zone_count;
}

void ftl_survey_zone(struct ftl *ftl, uint32_t number, struct ftl_zone_survey *out, void (*lost)(void *ctx, uint64_t lba), void *ctx)
{
	const struct zone *zone = &ftl->zones[number];
	const struct survey survey = { out, lost, ctx };
	bool conventional = page_space_holds(&ftl->page, zone->start);

	*out = (struct ftl_zone_survey){ .state = conventional ? NVME_ZS_NOT_WP : zone->state, .start = zone->start };
	(conventional ? look_at_conventional : look_at_sequential)(ftl, zone, &survey);
}
