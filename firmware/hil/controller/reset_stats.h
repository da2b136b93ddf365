/* Vendor command C0h: every statistics account starts again. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_RESET_STATS_H
#define HIL_RESET_STATS_H

#include "hil/controller/admin_command.h"

admin_handler admin_reset_stats;

#endif
