// Any text as a device and as a workload file: a legal record or one sentence with file and line.
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/device_json.hpp"
#include "config/device_yaml.hpp"
#include "config_check.h"
#include "workload/spec.hpp"

using namespace hz;

template <typename Parse> static void attempt(Parse parse)
{
	try {
		parse();
	} catch (const conf::ConfigError &e) {
		if (!std::string_view(e.what()).starts_with("fuzz:"))
			abort();
	}
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const std::string text(reinterpret_cast<const char *>(data), size);
	attempt([&] {
		const hz_device_config cfg = conf::parse_device(text, "fuzz");
		if (hz_device_config_check(&cfg, nullptr, 0))
			abort();
		conf::device_to_json(cfg);
	});
	attempt([&] {
		const wl::Workload w = wl::parse_workload(text, "fuzz");
		if (w.thread_count() == 0)
			abort();
		wl::workload_to_json(w);
	});
	return 0;
}
