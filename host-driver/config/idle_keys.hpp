/* Keys of a device file that change nothing, because of what other keys say. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "device_config.h"

#include <functional>
#include <string>

namespace hz::conf {

struct IdleKey {
	std::string key; // "section.key"; empty: there is none
	std::string why;
};
// The first one of those that given() says the file has. cfg: what the file makes, legal.
IdleKey idle_key(const hz_device_config &cfg, const std::function<bool(const std::string &)> &given);

} // namespace hz::conf
