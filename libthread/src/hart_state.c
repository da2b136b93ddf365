/* The array of all harts. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "hart_state.h"

struct hart *lt_all_harts;
