/* Scatter list copies. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "sgl.h"

#include <string.h>

#include "boundary/boundary.h"
#include "lt/arch.h"
#include "lt/bulk.h"

enum copy_mode { COPY_IN, COPY_OUT, COPY_ZERO, COPY_COMPARE };

/* True: the compared data differ. */
static bool sgl_walk(const struct sgl *sgl, uint32_t at, uint8_t *flat, uint32_t bytes, enum copy_mode mode)
{
	uint32_t pos = sgl->offset + at;
	bool differs = false;

	clock_freeze();
	while (bytes > 0) {
		uint8_t *mem = sgl->memory[pos >> HZ_SECTOR_SHIFT] + (pos & (HZ_SECTOR_BYTES - 1));
		uint32_t piece = HZ_SECTOR_BYTES - (pos & (HZ_SECTOR_BYTES - 1));

		if (piece > bytes)
			piece = bytes;
		switch (mode) {
		case COPY_IN: bulk_copy(mem, flat, piece); break;
		case COPY_OUT: bulk_copy(flat, mem, piece); break;
		case COPY_ZERO: bulk_fill(mem, 0, piece); break;
		case COPY_COMPARE: differs |= memcmp(mem, flat, piece) != 0; break;
		}
		flat = mode == COPY_ZERO ? flat : flat + piece;
		pos += piece;
		bytes -= piece;
	}
	clock_thaw();
	return differs;
}

void sgl_write(const struct sgl *sgl, uint32_t at, const void *src, uint32_t bytes)
{
	sgl_walk(sgl, at, (uint8_t *)(uintptr_t)src, bytes, COPY_IN);
}

void sgl_read(const struct sgl *sgl, uint32_t at, void *dst, uint32_t bytes) { sgl_walk(sgl, at, dst, bytes, COPY_OUT); }

void sgl_zero(const struct sgl *sgl, uint32_t at, uint32_t bytes) { sgl_walk(sgl, at, NULL, bytes, COPY_ZERO); }

bool sgl_equal(const struct sgl *sgl, uint32_t at, const void *data, uint32_t bytes)
{
	return !sgl_walk(sgl, at, (uint8_t *)(uintptr_t)data, bytes, COPY_COMPARE);
}

uint16_t sgl_guard(const struct sgl *sgl, uint32_t at)
{
	uint32_t pos = sgl->offset + at, offset = pos & (HZ_SECTOR_BYTES - 1);
	uint8_t *const *memory = &sgl->memory[pos >> HZ_SECTOR_SHIFT];
	uint16_t crc;

	boundary_work(WORK_GUARD, 1, 0);
	crc = hz_crc16(0, memory[0] + offset, HZ_SECTOR_BYTES - offset);

	return offset ? hz_crc16(crc, memory[1], offset) : crc;
}
