/* The tuple of a sector: its protection information (NVM Command Set 1.0, section 5.2: 16-bit guard, type 1), eight bytes, big-endian.
 *
 * Guard: CRC-16 of the data, polynomial 8BB7h (T10 DIF). Application tag: the host's; FFFFh in it turns all checks of the sector off.
 * Reference tag: low half of the LBA. A sector that was never written has a tuple of FFh. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HZ_PROTOCOL_TUPLE_H
#define HZ_PROTOCOL_TUPLE_H

#include <stddef.h>

#include "base.h"

enum { HZ_TUPLE_BYTES = 8 };

/* Checks, as the bits of PRCHK. */
enum hz_tuple_check { HZ_CHECK_REFERENCE = 1, HZ_CHECK_APPLICATION = 2, HZ_CHECK_GUARD = 4, HZ_CHECK_ALL = 7 };

struct hz_tuple {
	uint16_t guard, application;
	uint32_t reference;
};

#ifdef __cplusplus
extern "C" {
#endif

/* CRC-16 over earlier bytes with the value `crc` (0: none) and these bytes behind them. */
uint16_t hz_crc16(uint16_t crc, const void *data, size_t bytes);
/* Eight bytes at any alignment. */
void hz_tuple_store(void *bytes, struct hz_tuple tuple);
struct hz_tuple hz_tuple_load(const void *bytes);
/* NVME_SUCCESS, or the status of the first failing check against `expected`, in the order guard, application tag, reference tag. checks:
 * of enum hz_tuple_check. mask: of the application tag, the bits to compare. */
uint16_t hz_tuple_check(struct hz_tuple tuple, struct hz_tuple expected, uint32_t checks, uint16_t mask);

#ifdef __cplusplus
}
#endif

#endif
