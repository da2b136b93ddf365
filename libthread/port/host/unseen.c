/* Compiled without sanitizers. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "unseen.h"

void lanes_mix_unseen(struct hz_lanes *lanes, const void *data, size_t bytes) { hz_lanes_mix(lanes, data, bytes); }
