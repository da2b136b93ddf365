/* Checksum of a sector with its OOB: what the ECC engine would know about a torn or damaged sector. */
#ifndef TSU_NAND_CHECKSUM_H
#define TSU_NAND_CHECKSUM_H

#include "nand_image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* data: HZ_SECTOR_BYTES bytes, 8-byte aligned, or NULL for a sector programmed without data. */
uint32_t nand_checksum(const void *data, const struct hz_oob *oob);
/* One well-mixed number from two: the dice of fault injection (splitmix64's finalizer). */
uint64_t nand_mix(uint64_t a, uint64_t b);

#ifdef __cplusplus
}
#endif
#endif
