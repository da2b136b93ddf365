/* Vendor command C0h: every statistics account starts again. */
#ifndef HIL_RESET_STATS_H
#define HIL_RESET_STATS_H

#include "hil/controller/admin_command.h"

admin_handler admin_reset_stats;

#endif
