/* Keys without an effect: a row for each group of keys of a part that the device lacks. Keys of a
 * part that studies switch by one key (l2p.cache, data_cache.bytes) are accepted, so that this key
 * alone can be swept. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/idle_keys.hpp"

#include "lt/lock_kind.h"

#include <algorithm>
#include <vector>

namespace hz::conf {
namespace {

struct Group {
	const char *section;
	std::vector<const char *> keys;
	bool (*idle)(const hz_device_config &cfg);
	const char *why;
};

bool is_block(const hz_device_config &cfg) { return cfg.namespace_kind == HZ_NS_BLOCK; }

const Group groups[] = {
	{"conventional", {"zones"}, is_block, "all zones of a block namespace are conventional"},
	{"zones", {"max_open", "max_active"}, is_block, "the zones of a block namespace are not opened by the host"},
	{"buffers", {"count", "binding"}, is_block, "a block namespace has no sequential zones, whose buffers these are"},
	{"conventional",
	 {"spare_superblocks", "streams", "buffers", "gc", "gc_low"},
	 [](const hz_device_config &cfg) { return !is_block(cfg) && !cfg.conventional_zones; },
	 "conventional.zones is 0"},
	{"timing",
	 {"suspend"},
	 [](const hz_device_config &cfg) { return cfg.suspend_ns && !cfg.read_age_limit_ns; },
	 "timing.read_age_limit is 0, reads are not preferred"},
	{"timing",
	 {"cache_busy"},
	 [](const hz_device_config &cfg) { return !cfg.cache_read && !cfg.cache_program; },
	 "timing.cache_read and timing.cache_program are off"},
	{"locks",
	 {"cluster"},
	 [](const hz_device_config &cfg) {
		 return std::find(cfg.lock_kind, cfg.lock_kind + HZ_LOCK_CLASSES, LT_LOCK_COHORT) == cfg.lock_kind + HZ_LOCK_CLASSES;
	 },
	 "no class has the kind cohort"},
	{"faults", {"slow_percent"}, [](const hz_device_config &cfg) { return !cfg.slow_die; }, "faults.slow_die is 0"},
	{"faults",
	 {"rber_base", "rber_per_erase", "rber_per_hour", "rber_per_read", "retry_percent"},
	 [](const hz_device_config &cfg) { return !cfg.ecc_bits; },
	 "faults.ecc_bits is 0, there are no bit errors"},
};

} // namespace

IdleKey idle_key(const hz_device_config &cfg, const std::function<bool(const std::string &)> &given)
{
	for (const Group &group : groups)
		for (const char *name : group.keys) {
			const std::string key = std::string(group.section) + "." + name;
			if (given(key) && group.idle(cfg))
				return {key, group.why};
		}
	return {};
}

} // namespace hz::conf
