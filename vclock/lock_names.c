/* Names of the classes of locks. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "lock_names.h"

#include "logical_locks.h"

static const char *const locks[] = {
#define HZ_LOCK_CLASS(constant, name, ...) #name,
#include "lock_classes.def"
};

static const char *const logical_locks[] = {
#define HZ_LOGICAL_LOCK(constant, name, ...) #name,
#include "logical_locks.def"
};

const char *vc_lock_class_name(uint64_t number) { return number < sizeof(locks) / sizeof(locks[0]) ? locks[number] : "other"; }

const char *vc_logical_class_name(uint64_t number)
{
	return number < sizeof(logical_locks) / sizeof(logical_locks[0]) ? logical_locks[number] : "other";
}
