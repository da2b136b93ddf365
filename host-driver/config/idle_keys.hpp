/* Keys of a device file without an effect, because of other keys. */
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
// The first such key for which given() returns true. cfg: the legal record of the file.
IdleKey idle_key(const hz_device_config &cfg, const std::function<bool(const std::string &)> &given);

} // namespace hz::conf
