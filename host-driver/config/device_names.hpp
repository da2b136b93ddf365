/* Words of the YAML files and of result.json for the enumerations of the device record. */
#pragma once

#include "device_config.h"
#include "lt/lock_kind.h"

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace hz::conf {

inline constexpr std::string_view cell_names[] = {"slc", "mlc", "tlc", "qlc"}; /* value = index + 1 */
inline constexpr std::string_view clock_preset_names[] = {"default", "ideal"};
inline constexpr std::string_view media_names[] = {"store", "timing-only"};
inline constexpr std::string_view schedule_names[] = {"priority", "fifo", "fair"};
inline constexpr std::string_view off_on_names[] = {"off", "on"};
inline constexpr std::string_view lock_kind_names[] = {
#define LT_LOCK_KIND(constant, name, ...) #name,
#include "lt/lock_kinds.def"
};
inline constexpr std::string_view lock_class_names[] = {
#define HZ_LOCK_CLASS(constant, name, ...) #name,
#include "lock_classes.def"
};
inline constexpr std::string_view lock_stats_names[] = {"off", "contended", "all"};
inline constexpr std::string_view binding_names[] = {"modulo", "first-free", "per-zone"};
inline constexpr std::string_view namespace_names[] = {"zoned", "block"};
inline constexpr std::string_view gc_names[] = {"greedy", "cost-benefit", "fifo", "wear"};
inline constexpr std::string_view map_level_names[] = {"page", "chunk", "zone"};
inline constexpr std::string_view l2p_strategy_names[] = {"bitmap", "multiple", "pinned"};
inline constexpr std::string_view l2p_eviction_names[] = {"lru", "clock"};
inline constexpr std::string_view l2p_log_policy_names[] = {"background", "blocking"};
static_assert(std::size(gc_names) == HZ_GC_POLICIES && std::size(map_level_names) == HZ_MAP_LEVELS);
static_assert(std::size(l2p_strategy_names) == HZ_L2P_STRATEGIES);
static_assert(std::size(schedule_names) == HZ_SCHEDULES);

/* The 24 orders CDPW, CDWP, … in the numbering of plane_scheme. */
std::span<const std::string_view> plane_scheme_names();

/* names[value - base], or the number itself if it has no name. */
std::string name_of(std::span<const std::string_view> names, uint32_t value, uint32_t base = 0);

} // namespace hz::conf
