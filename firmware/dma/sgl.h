/* Scatter list of 4 KiB pieces of memory: how data movement names it, whether memory pages of the host (PRPs) or write-buffer slots. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DMA_SGL_H
#define DMA_SGL_H

#include <stdbool.h>
#include <stdint.h>
#include "tuple.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Byte i of the list is memory[(offset + i) / 4096][(offset + i) % 4096]. */
struct sgl {
	uint8_t **memory;
	uint32_t offset; /* into the first piece, < 4096 */
	uint32_t bytes;
};

/* Copies run with the hart's clock frozen: a DMA engine moves the bytes, its time is charged by the link or channel model. */
void sgl_write(const struct sgl *sgl, uint32_t at, const void *src, uint32_t bytes); /* src → list */
void sgl_read(const struct sgl *sgl, uint32_t at, void *dst, uint32_t bytes);        /* list → dst */
void sgl_zero(const struct sgl *sgl, uint32_t at, uint32_t bytes);
/* CRC-16 of the sector at byte `at` (tuple.h). Clock frozen. */
uint16_t sgl_guard(const struct sgl *sgl, uint32_t at);
/* Behind the piece with byte `at`: the tuple of a sector of device memory. */
static inline void *sgl_behind(const struct sgl *sgl, uint32_t at)
{
	return sgl->memory[(sgl->offset + at) >> HZ_SECTOR_SHIFT] + HZ_SECTOR_BYTES;
}
/* True if the list's data are equal. */
bool sgl_equal(const struct sgl *sgl, uint32_t at, const void *data, uint32_t bytes);

#ifdef __cplusplus
}
#endif
#endif
