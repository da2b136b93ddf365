/* Logical → device map of the log mapping: pages of entries that exist once touched. */
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace hz::replay {

struct LogEntry {
	uint64_t location = UINT64_MAX; /* device LBA of the newest completed write; all ones = not mapped */
	uint64_t version = 0;           /* of that write */
	uint64_t issued_version = 0;    /* of the newest write handed out */
	uint32_t writers = 0;           /* writes of this sector under way */

	bool mapped() const { return location != UINT64_MAX; }
};

class LogMap {
public:
	explicit LogMap(uint64_t sectors) : pages_((sectors + page_entries - 1) / page_entries) {}

	LogEntry &operator[](uint64_t lba)
	{
		auto &page = pages_[lba / page_entries];
		if (!page)
			page = std::make_unique<LogEntry[]>(page_entries);
		return page[lba % page_entries];
	}

private:
	static constexpr uint64_t page_entries = 1024;
	std::vector<std::unique_ptr<LogEntry[]>> pages_;
};

} // namespace hz::replay
