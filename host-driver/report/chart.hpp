// Charts: SVG pictures; values are readable on an axis and as tooltips.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace hz::rep {

struct Series {
	std::string name;
	std::vector<double> values; // negative: there is none
	bool pale = false;          // what is left, such as idle time
};

// Values of at least 100 have no decimals, small ones two.
std::string short_number(double value);

// A horizontal bar for each row, with the series stacked. full: end of the axis; 0: the longest
// bar.
std::string bar_chart(const std::string &unit, const std::vector<std::string> &rows, const std::vector<Series> &series, double full = 0);

// A line for each series over the columns, on a logarithmic axis: values below 0.01 are not shown.
std::string line_chart(const std::string &unit, const std::vector<std::string> &columns, const std::vector<Series> &series);

} // namespace hz::rep
