/* Reads before and without the TSU threads: those of mount, in flash time, and those of checks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_MOUNT_H
#define TSU_MOUNT_H

#include "nand/nand.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tsu;

/* Reads so far. */
struct tsu_mount_reads {
	uint64_t senses; /* by a die, of one page or, side by side, one of several planes */
	uint64_t pages;
	uint64_t bytes; /* across channels: data with their records, or records alone */
};

/* Synchronous, for one hart while no other runs. Until tsu_mounted the read takes flash time: the call waits until the die is free,
 * begins the read and returns with its data, without waiting for its end; tsu_await_reads does. From then on it takes no time, for
 * checks. Of one block. */
enum nand_status tsu_read_now(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, uint32_t at, struct hz_oob *oob);
/* The records alone of `sectors` consecutive sectors of a block: their bytes cross the channel. The call waits only if an earlier read
 * still waits for the die. side_by_side: the die reads the same page of several planes at once, so it waits for further planes until
 * another kind of read is requested. */
void tsu_records_now(struct tsu *tsu, ppa_t ppa, uint32_t sectors, bool side_by_side, struct hz_oob *oob);
/* Data, of sectors with addresses that do not depend on other reads: requested like records, side by side. */
enum nand_status tsu_data_now(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, struct hz_oob *oob);
/* Device time passes until all reads begun so far have ended. */
void tsu_await_reads(struct tsu *tsu);
/* The same, and mount is over: before the other harts run. */
void tsu_mounted(struct tsu *tsu);
struct tsu_mount_reads tsu_mount_reads(const struct tsu *tsu);
/* State of the block of ppa, for mount: write_sector, erase_count, flags. No flash time: the media know it. Before the harts run. */
const struct hz_nand_block *tsu_block_now(struct tsu *tsu, ppa_t ppa);

#ifdef __cplusplus
}
#endif
#endif
