/* Identify (base spec 5.17, ZNS 1.1 section 4.1). All namespaces are zoned, or of the NVM Command Set alone (block devices). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_IDENTIFY_H
#define HIL_IDENTIFY_H

#include "hil/controller/admin_command.h"

admin_handler admin_identify;

#endif
