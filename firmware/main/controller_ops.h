/* What the HIL needs of the device behind it, from FTL and TSU. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MAIN_CONTROLLER_OPS_H
#define MAIN_CONTROLLER_OPS_H

#include "hil/ports/ports.h"

struct device;
/* Of a device whose FTL and TSU are there. */
void controller_ops_init(struct controller_ops *ops, struct device *device);

#endif
