/* Register reads and writes. They run inside freeze: how often a host polls CSTS is no part of device time. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_REGISTERS_H
#define HIL_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

struct hil;
/* False: illegal, nothing happened. A read changes nothing. */
bool registers_read(struct hil *hil, uint32_t offset, unsigned size, uint64_t *value);
bool registers_write(struct hil *hil, uint32_t offset, unsigned size, uint64_t value);

#endif
