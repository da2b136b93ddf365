/* Which backing zone the collector takes. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FTL_CONV_VICTIM_H
#define FTL_CONV_VICTIM_H

#include "conventional/conv_space.h"

/* No lock held. The best sealed zone whose copies find room, or NULL; *hope: if there is none, some zone is still being programmed and may
 * be one soon. urgent: host writes wait, or soon will: else only what gains an eighth of a zone is worth the copies. */
struct zone *conv_victim(struct ftl *ftl, bool urgent, bool *hope);

#endif
