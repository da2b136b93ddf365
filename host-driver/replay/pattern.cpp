/* Data patterns. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/pattern.hpp"

#include "workload/random.hpp"

#include <cstring>

namespace hz::replay {
namespace {

constexpr uint64_t mark = 0x5a4e5452415a4e45ull;
constexpr size_t words = sector_bytes / sizeof(uint64_t), head_words = 4;

struct Pattern {
	uint64_t head[head_words];
	uint64_t base;

	Pattern(uint64_t seed, const wl::Stamp &stamp)
		: head{mark, stamp.key, stamp.version, seed}, base(wl::mix64(stamp.key ^ wl::mix64(stamp.version ^ wl::mix64(seed))))
	{
	}
	/* Consecutive words are independent of each other, so the loop runs several at a time. */
	uint64_t word(size_t index) const
	{
		uint64_t value = (base + index) * 0x9e3779b97f4a7c15ull;
		value ^= value >> 32;
		return value * 0xd6e8feb86659fd93ull;
	}
};

uint64_t load(std::span<const std::byte, sector_bytes> sector, size_t index)
{
	uint64_t value;
	memcpy(&value, sector.data() + index * sizeof(value), sizeof(value));
	return value;
}

bool all_zero(std::span<const std::byte, sector_bytes> sector)
{
	uint64_t seen = 0;
	for (size_t i = 0; i < words; i++)
		seen |= load(sector, i);
	return seen == 0;
}

std::string say(const wl::Stamp &stamp)
{
	if (!stamp.version)
		return "zeros";
	return "key " + std::to_string(stamp.key) + " version " + std::to_string(stamp.version);
}

} // namespace

void fill_sector(std::span<std::byte, sector_bytes> sector, uint64_t seed, const wl::Stamp &stamp)
{
	if (!stamp.version) {
		memset(sector.data(), 0, sector.size());
		return;
	}
	const Pattern pattern(seed, stamp);
	memcpy(sector.data(), pattern.head, sizeof(pattern.head));
	for (size_t i = head_words; i < words; i++) {
		const uint64_t value = pattern.word(i);
		memcpy(sector.data() + i * sizeof(value), &value, sizeof(value));
	}
}

bool check_sector(std::span<const std::byte, sector_bytes> sector, uint64_t seed, const wl::Stamp &stamp)
{
	if (!stamp.version)
		return all_zero(sector);
	const Pattern pattern(seed, stamp);
	uint64_t wrong = 0;
	for (size_t i = 0; i < head_words; i++)
		wrong |= load(sector, i) ^ pattern.head[i];
	for (size_t i = head_words; i < words; i++)
		wrong |= load(sector, i) ^ pattern.word(i);
	return wrong == 0;
}

bool check_versions(std::span<const std::byte, sector_bytes> sector, uint64_t seed, const wl::Stamp &stamp, uint64_t newest)
{
	const wl::Stamp found{stamp.key, load(sector, 2)};
	if (check_sector(sector, seed, stamp))
		return true;
	return found.version > stamp.version && found.version <= newest && check_sector(sector, seed, found);
}

std::string describe_mismatch(std::span<const std::byte, sector_bytes> sector, uint64_t seed, const wl::Stamp &stamp, uint64_t lba)
{
	std::string text = "LBA " + std::to_string(lba) + " should hold " + say(stamp) + " but holds ";
	const wl::Stamp found{load(sector, 1), load(sector, 2)};
	if (all_zero(sector))
		return text + "zeros";
	if (load(sector, 0) != mark)
		return text + "data that no run wrote";
	text += say(found);
	if (load(sector, 3) != seed)
		return text + " of another run";
	return text + (check_sector(sector, seed, found) ? "" : " with damaged content");
}

} // namespace hz::replay
