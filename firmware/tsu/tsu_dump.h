/* Power-loss dump: external power has failed, capacitors supply the device, all TSU threads have stopped, and one hart programs the dump, as
 * a controller's power-fail handler does. Every program takes its place on the time lines of its die and its channel, behind their running
 * operations; the calls themselves take no device time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_DUMP_H
#define TSU_DUMP_H

#include "dump_report.h"
#include "nand/nand.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tsu;

/* Before the harts run: `run` runs once, on a TSU hart, when power has gone; when it returns the capacitors are let go. */
void tsu_set_dump(struct tsu *tsu, void (*run)(void *ctx), void *ctx);

/* Power has failed, and all TSU threads have stopped: ends the dies' running operations, and calls `run`. */
void tsu_dump(struct tsu *tsu, uint64_t lost_ns);

/* For `run`. */
/* When this die could take a program. */
uint64_t tsu_dump_ready_ns(const struct tsu *tsu, uint32_t die_index);
/* True if the sector is its block's next one. */
bool tsu_dump_is_next(struct tsu *tsu, ppa_t ppa);
/* Programs one program unit of one plane. NAND_PROGRAM_FAILED: the block is retired. NAND_POWER_OFF: the capacitors are empty; nothing
 * happens any more. */
enum nand_status tsu_dump_program(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, const struct hz_oob *oob);
/* The media of keep, kept and keep_nothing. */
struct nand *tsu_dump_media(struct tsu *tsu);
/* For the report: sectors to dump, and programs of them at their final place. */
void tsu_dump_count(struct tsu *tsu, uint32_t sectors, uint32_t in_place);
/* The same without time or energy, which the power cut before this start has cost: the rest of its dump. */
enum nand_status tsu_dump_belated(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, const struct hz_oob *oob);
void tsu_dump_report(const struct tsu *tsu, struct hz_dump_report *out);

#ifdef __cplusplus
}
#endif
#endif
