/* Get and Set Features (base spec 5.15, 5.27). */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HIL_ADMIN_FEATURES_H
#define HIL_ADMIN_FEATURES_H

#include "hil/controller/admin_command.h"

admin_handler admin_get_features, admin_set_features;

#endif
