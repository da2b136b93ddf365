/* Raw bit errors of a sector: the rate grows with erases, reads and age, and every sector has its own luck. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NAND_ERRORS_H
#define NAND_ERRORS_H

#include <stdbool.h>

#include "device_config.h"
#include "nand_image.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NAND_ERROR_FRACTION = 256 }; /* bit errors are counted in 256ths */

/* Rate in 10^-12 at now_ns of the image's powered time: base + per_erase * e + (e + 1) * (per_hour * hours + per_read * reads), at
 * most one half. The terms are those of Kim, Choi and Min (FAST 2019), with all exponents 1. */
uint64_t nand_error_rate(const struct hz_device_config *cfg, const struct hz_nand_block *block, uint64_t now_ns);
/* Bit errors of one sector at this rate. dice: 64 random bits of these cells. Normal approximation of the binomial. */
uint64_t nand_bit_errors(uint64_t rate, uint64_t dice);
/* Retries until ECC corrects `errors`; each leaves retry_percent of them. More than read_retries: read_retries and *lost. */
uint32_t nand_tries_for(const struct hz_device_config *cfg, uint64_t errors, bool *lost);

#ifdef __cplusplus
}
#endif
#endif
