/* On capacitors: external power has failed, all TSU threads have stopped, and one hart programs the power-fail dump, as a controller's
 * power-fail handler does. Every program takes its place on the time lines of its die and its channel, behind their running operations;
 * the calls themselves take no device time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TSU_KEEP_H
#define TSU_KEEP_H

#include "keep_report.h"
#include "nand/nand.h"

#ifdef __cplusplus
extern "C" {
#endif

struct tsu;

/* Before the harts run: `keep` runs once, on a TSU hart, when power has gone; when it returns the capacitors are let go. */
void tsu_set_keeper(struct tsu *tsu, void (*keep)(void *ctx), void *ctx);

/* Power has failed, and all TSU threads have stopped: ends the dies' running operations, and calls `keep`. */
void tsu_keep(struct tsu *tsu, uint64_t lost_ns);

/* For `keep`. */
/* When this die could take a program. */
uint64_t tsu_keep_ready_ns(const struct tsu *tsu, uint32_t die_index);
/* True if the sector is its block's next one. */
bool tsu_keep_is_next(struct tsu *tsu, ppa_t ppa);
/* Programs one program unit of one plane. NAND_PROGRAM_FAILED: the block is retired. NAND_POWER_OFF: the capacitors are empty; nothing
 * happens any more. */
enum nand_status tsu_keep_program(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, const struct hz_oob *oob);
/* The media of keep, kept and keep_nothing. */
struct nand *tsu_keep_media(struct tsu *tsu);
/* For the report: sectors to dump, and programs of them at their final place. */
void tsu_keep_count(struct tsu *tsu, uint32_t sectors, uint32_t in_place);
/* The same without time or energy, which the power cut before this start has cost: the rest of its dump. */
enum nand_status tsu_keep_belated(struct tsu *tsu, ppa_t ppa, uint32_t sectors, const struct sgl *data, const struct hz_oob *oob);
void tsu_keep_report(const struct tsu *tsu, struct hz_keep_report *out);

#ifdef __cplusplus
}
#endif
#endif
