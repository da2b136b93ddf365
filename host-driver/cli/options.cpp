// Options: one checker per kind of value.
// SPDX-License-Identifier: BSD-3-Clause
#include "cli/options.hpp"

#include <algorithm>
#include <sstream>

#include "cli/called.hpp"
#include "config/quantity.hpp"
#include "device_config.h"

namespace hz::cli {

namespace {

constexpr size_t help_width = 70; // to the right of the column of names

std::string number(double value)
{
	std::ostringstream text;
	text << value;
	return text.str();
}

std::string joined(std::span<const std::string_view> words, const char *between)
{
	std::string text;
	for (const std::string_view word : words)
		text += (text.empty() ? "" : between) + std::string(word);
	return text;
}

std::string range(uint64_t low, uint64_t high) { return std::to_string(low) + ".." + (high == most_count ? "" : std::to_string(high)); }

// Words between spaces, broken into lines.
std::string in_lines(const std::string &text)
{
	std::string out, word;
	size_t column = 0;
	for (std::istringstream words(text); words >> word; column += word.size()) {
		const bool fits = column + 1 + word.size() <= help_width;
		if (column)
			out += fits ? ' ' : '\n';
		column = column && fits ? column + 1 : 0;
		out += word;
	}
	return out;
}

// The command that the words reached: of `trace cut`, cut. Null: none.
const CLI::App *innermost(const CLI::App *app)
{
	const auto commands = app->get_subcommands();
	if (commands.empty())
		return nullptr;
	const CLI::App *inner = innermost(commands.front());
	return inner ? inner : commands.front();
}

std::string in_one_line(std::string text)
{
	std::ranges::replace(text, '\n', ' ');
	return text;
}

// The first sentence of a help text, and its examples.
std::string in_short(const std::string &help)
{
	const size_t first = std::min(help.find(". "), help.size()), examples = help.find("E.g. ", first);
	return help.substr(0, first) + (examples == help.npos ? "" : ". " + help.substr(examples));
}

// What a word that is missing stands for: of an option its value, of a command FILE or a folder.
std::string missing_word(const CLI::App &command, const std::string &name)
{
	const CLI::Option *option = command.get_option_no_throw(name);
	if (!option)
		return name + " is missing";
	const std::string what = in_short(in_one_line(option->get_description()));
	return option->get_positional() ? name + " is missing: " + what : name + " needs a value, " + option->get_type_name() + ": " + what;
}

std::string words_after(const CLI::App &command)
{
	std::string words;
	const auto all = command.get_subcommands([](const CLI::App *) { return true; });
	for (const CLI::App *one : all)
		words += (words.empty() ? "" : one == all.back() ? " or " : ", ") + one->get_name();
	return command.get_name() + " needs a word behind it: " + words;
}

// Errors that CLI11 detects: wrong numbers of values, unknown words, no command. `command`: the
// innermost one that was parsed.
std::string in_words(const CLI::App *app, const CLI::App *command, const CLI::Error &error)
{
	const std::string what = error.what(), name = what.substr(0, what.find_first_of(": "));
	if (dynamic_cast<const CLI::ValidationError *>(&error))
		return what;
	const std::vector<std::string> unknown = app->remaining(true);
	if (!unknown.empty())
		return command ? unknown.front() + " is no option of " + command->get_name() : "there is no command " + unknown.front();
	if (!command)
		return "say which command";
	if (what.find("flag override") != what.npos)
		return "--" + name + " takes no value";
	if (dynamic_cast<const CLI::RequiredError *>(&error))
		return name == "A" && !command->get_option_no_throw(name) ? words_after(*command) : missing_word(*command, name);
	if (dynamic_cast<const CLI::ArgumentMismatch *>(&error))
		return what.find(" received ") == what.npos ? missing_word(*command, name) : name + " takes one value, once";
	return what;
}

} // namespace

void add_option(CLI::App &app, const std::string &name, const std::string &allowed, const std::string &help, Take take)
{
	const auto check = [name, take = std::move(take)](const std::string &text) {
		const std::string wrong = text.empty() ? "is empty: leave it out, or give it a value" : take(text);
		if (!wrong.empty())
			throw CLI::ValidationError(name + " " + wrong);
	};
	app.add_option_function<std::string>(name, check, in_lines(help))->type_name(allowed);
}

void add_repeated(CLI::App &app, const std::string &name, const std::string &allowed, const std::string &help, Take take)
{
	const auto check = [name, take = std::move(take)](const std::vector<std::string> &texts) {
		for (const std::string &text : texts)
			if (const std::string wrong = text.empty() ? "is empty: leave it out, or give it a value" : take(text);
			    !wrong.empty())
				throw CLI::ValidationError(name + " " + wrong);
	};
	app.add_option_function<std::vector<std::string>>(name, check, in_lines(help))->type_name(allowed)->expected(1)->take_all();
}

void add_count(CLI::App &app, const std::string &name, uint64_t &out, uint64_t low, uint64_t high, const std::string &help)
{
	add_option(app, name, range(low, high), help, [&out, low, high](const std::string &text) {
		const auto value = conf::parse_count(text);
		if (!value || *value < low || *value > high)
			return "takes a whole number from " + std::to_string(low) + " to " + std::to_string(high) + ", not '" + text + "'";
		out = *value;
		return std::string();
	});
}

void add_namespace(CLI::App &app, uint32_t &out)
{
	const std::string most = std::to_string(HZ_MAX_NAMESPACES);
	add_option(app, "--namespace", "NSID", "Namespace of the device to work on. Default: 1. E.g. --namespace 2",
		   [&out, most](const std::string &text) {
			   const auto value = conf::parse_count(text);
			   if (!value || !*value || *value > HZ_MAX_NAMESPACES)
				   return "takes the number of a namespace, 1 to " + most + ", not '" + text + "'";
			   out = uint32_t(*value);
			   return std::string();
		   });
}

void add_real(CLI::App &app, const std::string &name, double &out, double low, double high, const std::string &help)
{
	add_option(app, name, number(low) + ".." + number(high), help, [&out, low, high](const std::string &text) {
		const auto value = conf::parse_real(text);
		if (!value || *value < low || *value > high)
			return "takes a number from " + number(low) + " to " + number(high) + ", not '" + text + "'";
		out = *value;
		return std::string();
	});
}

void add_choice(CLI::App &app, const std::string &name, std::string &out, std::span<const std::string_view> words, const std::string &help)
{
	add_option(app, name, joined(words, "|"), help, [&out, words](const std::string &text) {
		for (const std::string_view word : words)
			if (text == word) {
				out = text;
				return std::string();
			}
		return "takes " + joined(words, " or ") + ", not '" + text + "'";
	});
}

void add_text(CLI::App &app, const std::string &name, std::string &out, const std::string &kind, const std::string &help)
{
	add_option(app, name, kind, help, [&out](const std::string &text) {
		out = text;
		return std::string();
	});
}

void add_optional(CLI::App &app, const std::string &name, const std::string &allowed, const std::string &help, Take take)
{
	const auto check = [name, take = std::move(take)](const std::string &text) {
		if (const std::string wrong = take(text); !wrong.empty())
			throw CLI::ValidationError(name + " " + wrong);
	};
	app.add_option_function<std::string>(name, check, in_lines(help))->type_name(allowed)->expected(0, 1);
}

void add_flag(CLI::App &app, const std::string &name, bool &out, const std::string &help)
{
	app.add_flag(name, out, in_lines(help))->disable_flag_override();
}

std::string usage_sentence(const CLI::App *app, const CLI::Error &error)
{
	const CLI::App *command = innermost(app);
	std::string call;
	for (const CLI::App *one = command; one && one != app; one = one->get_parent())
		call = " " + one->get_name() + call;
	return as_called("hartzone: " + in_words(app, command, error) + " (./hartzone" + call + " --help has more)\n");
}

} // namespace hz::cli
