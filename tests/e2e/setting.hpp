// setting: a number from the environment. HARTZONE_TEST_SEED replays a failing run, HARTZONE_TEST_ROUNDS makes it longer.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>

namespace e2e {

inline uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = std::getenv(name);
	return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace e2e
