/* A device file: YAML to the record of protocol/device_config.h. docs/reference/config.md names every key. */
/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "config/yaml_fields.hpp"
#include "device_config.h"

#include <string>

namespace hz::conf {

/* The shape that every file starts from: keys that a file leaves out keep these values. */
hz_device_config device_defaults();

/* Reads, checks with hz_device_config_check and returns the device. Throws ConfigError. */
hz_device_config load_device(const std::string &path);
hz_device_config parse_device(const std::string &text, const std::string &name);

/* Throws ConfigError with the sentence of hz_device_config_check, if any. */
void require_legal(const hz_device_config &cfg, const std::string &file);

} // namespace hz::conf
