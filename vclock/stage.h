/* To which stage of work (protocol/stages.def) code belongs: by the symbols that the firmware's linker script puts between them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_STAGE_H
#define VC_STAGE_H

#include <stdint.h>

enum vc_stage {
#define HZ_STAGE(name, ...) VC_STAGE_##name,
#include "stages.def"
	VC_STAGES
};

extern const char *const vc_stage_names[VC_STAGES];

/* Once the image's symbols are known. Without the linker script's, everything is `other`. */
void vc_stages_load(void);
/* Of the instruction at pc. */
enum vc_stage vc_stage_of(uint64_t pc);

#endif
