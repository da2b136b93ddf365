// Page: one self-contained page of HTML. Studies write theirs by studies/common/page.py, in the
// same style.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hz::rep {

using Row = std::vector<std::string>;

// Text as HTML shows it; bytes that are no UTF-8 become question marks.
std::string escaped(std::string_view text);

class Page {
public:
	Page(const std::string &title, const std::string &subtitle);
	void heading(const std::string &text);
	void text(const std::string &text);
	void list(const std::vector<std::string> &lines);
	void table(const Row &header, const std::vector<Row> &rows);
	// A table that is shown when its title is clicked, since it is long.
	void folded_table(const std::string &title, const Row &header, const std::vector<Row> &rows);
	// Of chart.hpp.
	void picture(const std::string &svg, const std::string &caption);
	// The whole page.
	std::string html() const;

private:
	std::string title_, body_;
};

} // namespace hz::rep
