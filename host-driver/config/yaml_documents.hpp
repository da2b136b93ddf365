// Where a second document begins in YAML text.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace hz::conf {

// Line of the second document, from 0 on: its '---', or the token that the first document cannot
// contain, such as a stray ','. Empty: at most one document. Throws YAML::Exception as YAML::Load
// does. YAML::LoadAll is no alternative: a stray ',' makes it return documents endlessly.
std::optional<int> second_document_line(const std::string &text);

} // namespace hz::conf
