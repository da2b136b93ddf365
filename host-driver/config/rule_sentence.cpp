/* Fields of struct hz_device_config and the keys of a device file. */
#include "config/rule_sentence.hpp"

#include <algorithm>
#include <string_view>

namespace hz::conf {
namespace {

struct Name {
	std::string_view field, key, unit;
};

constexpr std::string_view ns = " (ns)", sectors = " (4 KiB sectors)";
constexpr Name names[] = {
	{"channels", "geometry.channels", ""}, {"chips_per_channel", "geometry.chips_per_channel", ""},
	{"dies_per_chip", "geometry.dies_per_chip", ""}, {"planes_per_die", "geometry.planes_per_die", ""},
	{"blocks_per_plane", "geometry.blocks_per_plane", ""}, {"pages_per_block", "geometry.pages_per_block", ""},
	{"page_bytes", "geometry.page_bytes", ""}, {"slc_blocks_per_plane", "geometry.slc_blocks_per_plane", ""},
	{"cell", "geometry.cell", ""}, {"program_pages", "geometry.program_pages", ""},
	{"slc_program_sectors", "geometry.slc_program_sectors", ""}, {"plane_scheme", "geometry.plane_scheme", ""},
	{"media_mode", "geometry.media", ""},
	{"slc.read_ns", "timing.slc.read", ns}, {"slc.program_ns", "timing.slc.program", ns}, {"slc.erase_ns", "timing.slc.erase", ns},
	{"normal.read_ns", "timing.normal.read", ns}, {"normal.program_ns", "timing.normal.program", ns},
	{"normal.erase_ns", "timing.normal.erase", ns}, {"command_ns", "timing.command", ns}, {"suspend_ns", "timing.suspend", ns},
	{"schedule", "timing.schedule", ""}, {"cache_read", "timing.cache_read", ""}, {"cache_program", "timing.cache_program", ""},
	{"cache_busy_ns", "timing.cache_busy", ns}, {"interleave_sectors", "timing.interleave_sectors", ""},
	{"program_passes", "timing.program_passes", ""},
	{"namespace_kind", "zones.namespace", ""}, {"zones", "zones.count", ""}, {"spare_superblocks", "zones.spare_superblocks", ""},
	{"zone_size_sectors", "zones.size", sectors}, {"zone_capacity_sectors", "zones.capacity", sectors},
	{"max_open", "zones.max_open", ""}, {"max_active", "zones.max_active", ""},
	{"write_buffers", "buffers.count", ""}, {"buffer_binding", "buffers.binding", ""},
	{"flush_unit_planes", "buffers.flush_unit_planes", ""}, {"buffer_idle_ns", "buffers.idle", ns},
	{"conventional_zones", "conventional.zones", ""}, {"conventional_spare", "conventional.spare_superblocks", ""},
	{"conventional_streams", "conventional.streams", ""}, {"conventional_buffers", "conventional.buffers", ""},
	{"conventional_gc", "conventional.gc", ""}, {"conventional_gc_low", "conventional.gc_low", ""},
	{"slc_gc", "slc.gc", ""}, {"l2p_cache_bytes", "l2p.cache", ""}, {"l2p_levels", "l2p.levels", ""},
	{"l2p_chunk_sectors", "l2p.chunk", sectors}, {"l2p_strategy", "l2p.strategy", ""}, {"l2p_eviction", "l2p.eviction", ""},
	{"l2p_prefetch", "l2p.prefetch", ""}, {"l2p_buckets", "l2p.buckets", ""}, {"l2p_log_entries", "l2p.log_entries", ""},
	{"l2p_log_policy", "l2p.log_policy", ""},
	{"harts", "harts.count", ""}, {"hil_hart", "harts.hil", ""}, {"tsu_count", "harts.tsus", ""}, {"tsu_hart", "harts.tsu", ""},
	{"worker_count", "harts.workers", ""}, {"worker_hart", "harts.worker", ""}, {"inflight_requests", "harts.inflight_requests", ""},
	{"lock_kind", "locks.kind", ""}, {"lock_stats", "locks.stats", ""},
	{"program_fail_ppb", "faults.program_fail_ppb", ""}, {"erase_fail_ppb", "faults.erase_fail_ppb", ""},
	{"read_fail_ppb", "faults.read_fail_ppb", ""}, {"factory_bad_ppb", "faults.factory_bad_ppb", ""},
	{"read_retry_ppb", "faults.read_retry_ppb", ""}, {"read_retries", "faults.read_retries", ""},
	{"slow_die", "faults.slow_die", ""}, {"slow_percent", "faults.slow_percent", ""}, {"failed_die", "faults.failed_die", ""},
	{"ecc_bits", "faults.ecc_bits", ""}, {"retry_percent", "faults.retry_percent", ""}, {"shelf_hours", "faults.shelf_hours", ""},
};

bool part_of_a_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

const Name *find(std::string_view field)
{
	auto found = std::find_if(std::begin(names), std::end(names), [&](const Name &n) { return n.field == field; });
	return found == std::end(names) ? nullptr : found;
}

/* End of the word that begins at `at`; a full stop behind it is not part of it. */
size_t end_of_word(std::string_view text, size_t at)
{
	size_t end = at;
	while (end < text.size() && part_of_a_name(text[end]))
		end++;
	return end > at && text[end - 1] == '.' ? end - 1 : end;
}

} // namespace

std::string in_words_of_the_file(const std::string &sentence)
{
	std::string out;
	for (size_t at = 0, end; at < sentence.size(); at = end) {
		end = std::max(end_of_word(sentence, at), at + 1);
		const std::string_view word(sentence.data() + at, end - at);
		// Behind the first word only what can be nothing else: "zones" is a plain word there.
		const Name *name = at == 0 || word.find('_') != word.npos ? find(word) : nullptr;
		out += name ? name->key : word;
		if (name && at == 0)
			out += name->unit;
	}
	return out;
}

std::string key_of(const std::string &sentence)
{
	const Name *name = find(std::string_view(sentence).substr(0, end_of_word(sentence, 0)));
	return name ? std::string(name->key) : std::string();
}

} // namespace hz::conf
