/* Keys without an effect (`idle` of device_keys.yaml). */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/idle_keys.hpp"

#include "lt/lock_kind.h"

#include <algorithm>

namespace hz::conf {
namespace {

struct Row {
	const char *key;
	bool (*idle)(const hz_device_config &cfg);
	const char *why;
};

bool no_class_has(const hz_device_config &cfg, uint8_t kind)
{
	return std::find(cfg.lock_kind, cfg.lock_kind + HZ_LOCK_CLASSES, kind) == cfg.lock_kind + HZ_LOCK_CLASSES;
}

const Row rows[] = {
#define HZ_IDLE(key, condition, why) {key, [](const hz_device_config &cfg) { return condition; }, why},
#include "device_idle.def"
};

} // namespace

IdleKey idle_key(const hz_device_config &cfg, const std::function<bool(const std::string &)> &given)
{
	for (const Row &row : rows)
		if (given(row.key) && row.idle(cfg))
			return {row.key, row.why};
	return {};
}

} // namespace hz::conf
