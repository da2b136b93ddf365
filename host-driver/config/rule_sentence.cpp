/* Fields of struct hz_device_config and the keys of a device file. */
/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/rule_sentence.hpp"

#include "device_fields.h"

#include <algorithm>
#include <string_view>

namespace hz::conf {
namespace {

bool part_of_a_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'; }

/* "section.key" of a member, followed by the class if each class has a key; empty for members
 * without a key. */
std::string key_of_member(std::string_view word)
{
	for (const hz_field &field : hz_device_fields) {
		const std::string_view member = field.member, rest = word.substr(std::min(member.size(), word.size()));
		const bool by_class = field.unit == HZ_UNIT_KIND_BY_CLASS || field.unit == HZ_UNIT_GRANULARITY_BY_CLASS;
		if (word == member || (by_class && word.starts_with(member) && rest[0] == '.'))
			return (*field.section ? std::string(field.section) + "." : "") + field.key + std::string(rest);
	}
	return "";
}

std::string_view unit_of(std::string_view word)
{
	for (const hz_field &field : hz_device_fields)
		if (word == field.member)
			return field.unit == HZ_UNIT_NS || field.unit == HZ_UNIT_PAGE_NS ? " (ns)"
			       : field.unit == HZ_UNIT_SECTORS                           ? " (4 KiB sectors)"
											 : "";
	return "";
}

/* End of the word at `at`, without a full stop. */
size_t end_of_word(std::string_view text, size_t at)
{
	size_t end = at;
	while (end < text.size() && part_of_a_name(text[end]))
		end++;
	return end > at && text[end - 1] == '.' ? end - 1 : end;
}

} // namespace

std::string in_words_of_the_file(const std::string &sentence)
{
	std::string out;
	for (size_t at = 0, end; at < sentence.size(); at = end) {
		end = std::max(end_of_word(sentence, at), at + 1);
		const std::string_view word(sentence.data() + at, end - at);
		// After the first word only unambiguous names are replaced: "zones" is a plain word
		// there.
		const std::string key = at == 0 || word.find('_') != word.npos ? key_of_member(word) : "";
		out += key.empty() ? std::string(word) : key;
		if (at == 0)
			out += unit_of(word);
	}
	return out;
}

std::string key_of(const std::string &sentence) { return key_of_member(std::string_view(sentence).substr(0, end_of_word(sentence, 0))); }

} // namespace hz::conf
