/* Get Log Page (base spec 5.16). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_GET_LOG_H
#define HIL_GET_LOG_H

#include "hil/controller/admin_command.h"

admin_handler admin_get_log;

#endif
