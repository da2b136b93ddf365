// Called: replaces the command name in one place; texts are written as typed in a source tree.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/called.hpp"

#include <memory>
#include <string_view>

#include "session/machine/locate.hpp"

namespace hz::cli {

namespace {

constexpr std::string_view in_tree = "./hartzone", installed_name = "hartzone";

bool of_the_tree(std::string_view rest) { return rest.starts_with(" build") || rest.starts_with(" setup"); }

class CalledFormatter : public CLI::Formatter {
public:
	std::string make_help(const CLI::App *app, std::string name, CLI::AppFormatMode mode) const override
	{
		return as_called(CLI::Formatter::make_help(app, std::move(name), mode));
	}
};

} // namespace

std::string as_called(std::string text)
{
	if (!is_installed())
		return text;
	for (size_t at = 0; (at = text.find(in_tree, at)) != std::string::npos; at += installed_name.size())
		if (!of_the_tree(std::string_view(text).substr(at + in_tree.size())))
			text.replace(at, in_tree.size(), installed_name);
	return text;
}

void name_in_help(CLI::App &app) { app.formatter(std::make_shared<CalledFormatter>()); }

} // namespace hz::cli
