// Options: every value is checked when the command line is parsed, and the help shows the allowed
// values.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace hz::cli {

inline constexpr uint64_t most_count = 1000000000000; // for values without a bound of their own

// Takes the text of an option; returns an error ("takes …"), or an empty string.
using Take = std::function<std::string(const std::string &)>;

// `allowed` is shown after the name in the help. An empty text is refused before `take` sees it.
// `help` is broken into lines.
void add_option(CLI::App &app, const std::string &name, const std::string &allowed, const std::string &help, Take take);
// May be given several times: `take` gets each value.
void add_repeated(CLI::App &app, const std::string &name, const std::string &allowed, const std::string &help, Take take);
// A whole number in decimal digits.
void add_count(CLI::App &app, const std::string &name, uint64_t &out, uint64_t low, uint64_t high, const std::string &help);
// --namespace, for commands that work on one. Whether there is such a one is known when the device is up.
void add_namespace(CLI::App &app, uint32_t &out);
void add_real(CLI::App &app, const std::string &name, double &out, double low, double high, const std::string &help);
void add_choice(CLI::App &app, const std::string &name, std::string &out, std::span<const std::string_view> words, const std::string &help);
void add_text(CLI::App &app, const std::string &name, std::string &out, const std::string &kind, const std::string &help);
// With a value or without one: `take` gets an empty text then.
void add_optional(CLI::App &app, const std::string &name, const std::string &allowed, const std::string &help, Take take);
// Without a value.
void add_flag(CLI::App &app, const std::string &name, bool &out, const std::string &help);

// The error on the command line, as one sentence for stderr.
std::string usage_sentence(const CLI::App *app, const CLI::Error &error);

} // namespace hz::cli
