/* Numbers of the lock kinds and of the levels of lock statistics. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LT_LOCK_KIND_H
#define LT_LOCK_KIND_H

enum lt_lock_kind {
#define LT_LOCK_KIND(constant, ...) LT_LOCK_##constant,
#include "lt/lock_kinds.def"
	LT_LOCK_KINDS
};
enum lt_stats_level { LT_STATS_OFF, LT_STATS_CONTENDED, LT_STATS_ALL };

#endif
