/* Names of the classes of locks, as results have them. */
/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VC_LOCK_NAMES_H
#define VC_LOCK_NAMES_H

#include <stdint.h>

/* Of a class in protocol/lock_classes.def; "other" beyond them. */
const char *vc_lock_class_name(uint64_t number);
/* Of a class in protocol/logical_locks.def. */
const char *vc_logical_class_name(uint64_t number);

#endif
