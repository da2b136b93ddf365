// Where a second document begins in YAML text.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

namespace hz::conf {

// Line of it, from 0 on: its '---', or what the first document cannot contain, such as a stray ','. None: there is at most one document.
// Throws YAML::Exception as YAML::Load does. YAML::LoadAll would do, but a stray ',' gives it documents without an end.
std::optional<int> second_document_line(const std::string &text);

} // namespace hz::conf
