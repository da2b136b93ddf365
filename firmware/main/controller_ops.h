/* The HIL's port to the device behind it, made of FTL and TSU. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MAIN_CONTROLLER_OPS_H
#define MAIN_CONTROLLER_OPS_H

#include "hil/ports/ports.h"

struct device;
/* FTL and TSU of the device are initialized. */
void controller_ops_init(struct controller_ops *ops, struct device *device);

#endif
