/* Presets of the virtual clock's costs: the defaults of the schema, and none for coherence. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock_preset.h"

#include "device_fields.h"

void hz_clock_preset_costs(enum hz_clock_preset preset, struct hz_clock_costs *costs)
{
	struct hz_device_config defaults;

	hz_device_defaults(&defaults);
	*costs = defaults.clock;
	costs->preset = preset;
	if (preset == HZ_CLOCK_IDEAL)
		costs->local = costs->remote = costs->occupancy = costs->wake = costs->ipi = 0;
}
