// Charts: pictures as SVG, whose values can be read off an axis, and by pointing at a mark.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace hz::rep {

struct Series {
	std::string name;
	std::vector<double> values; // negative: there is none
};

// Values of at least 100 have no decimals, small ones two.
std::string short_number(double value);

// A horizontal bar for each row, in which the series follow one another.
// full: what the axis ends at; 0: at the longest bar.
std::string bar_chart(const std::string &unit, const std::vector<std::string> &rows, const std::vector<Series> &series, double full = 0);

// A line for each series over the columns, on a logarithmic axis: values below 0.01 are not shown.
std::string line_chart(const std::string &unit, const std::vector<std::string> &columns, const std::vector<Series> &series);

} // namespace hz::rep
