/* Shadow memory of the race check: the last few accesses of every 8-byte word of guest memory that was touched. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_SHADOW_H
#define VC_SHADOW_H

#include <stdint.h>

enum { VC_SHADOW_CELLS = 4 };

struct vc_cell {
	uint32_t epoch; /* 0: empty */
	uint8_t hart;
	uint8_t bytes;  /* mask of the word's bytes */
	uint8_t access; /* enum vc_race_access */
	uint8_t reserved;
	uint64_t pc;
};

/* The cells of the word at address (8-byte aligned), made on first use. */
struct vc_cell *vc_shadow_of(uint64_t address);

#endif
