/* Stages by address. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage.h"

#include <stdio.h>

#include "symbol.h"

const char *const vc_stage_names[VC_STAGES] = {
#define HZ_STAGE(name, ...) #name,
#include "stages.def"
};

static uint64_t first[VC_STAGES + 1]; /* its first address, and the end of the last; all 0: unknown */

void vc_stages_load(void)
{
	char symbol[64];

	for (unsigned s = 0; s < VC_STAGES; s++) {
		snprintf(symbol, sizeof(symbol), "stage_%s", vc_stage_names[s]);
		first[s] = vc_symbol_value(symbol);
	}
	first[VC_STAGES] = UINT64_MAX;
}

enum vc_stage vc_stage_of(uint64_t pc)
{
	for (unsigned s = 0; s < VC_STAGE_other; s++)
		if (pc >= first[s] && pc < first[s + 1])
			return (enum vc_stage)s;
	return VC_STAGE_other;
}
