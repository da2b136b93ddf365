/* Asynchronous Event Request and Abort (base spec 5.2, 5.1). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_ADMIN_EVENTS_H
#define HIL_ADMIN_EVENTS_H

#include "hil/controller/admin_command.h"

admin_handler admin_async_event, admin_abort;

#endif
