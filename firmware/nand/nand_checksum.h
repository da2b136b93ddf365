/* Checksums of the image, in place of an ECC engine's verdict on a torn or damaged sector, record or table entry. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_CHECKSUM_H
#define NAND_CHECKSUM_H

#include "nand_image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* hz_nand_oob.data_checksum. data: HZ_SECTOR_BYTES bytes, 8-byte aligned, or NULL for a sector programmed without data. tuple: its bytes
 * as a number; 0: it has none. */
uint32_t nand_data_checksum(const void *data, uint64_t tuple, const struct hz_nand_oob *oob);
/* hz_nand_oob.checksum; never 0, so that zeros are no good record. number: the record's in the image. */
uint32_t nand_oob_checksum(const struct hz_nand_oob *oob, uint64_t number);
/* hz_nand_block.checksum; never 0. number: the flat block number. */
uint32_t nand_block_checksum(const struct hz_nand_block *block, uint32_t number);
/* hz_nand_header.checksum, with the device config behind the header. */
uint32_t nand_header_checksum(const struct hz_nand_header *header);
/* hz_nand_namespaces.checksum; never 0. */
uint32_t nand_namespaces_checksum(const struct hz_nand_namespaces *record);
/* hz_nand_controller.checksum; never 0. */
uint32_t nand_controller_checksum(const struct hz_nand_controller *record);
/* One well-mixed number from two: the dice of fault injection (splitmix64's finalizer). */
uint64_t nand_mix(uint64_t a, uint64_t b);

#ifdef __cplusplus
}
#endif
#endif
