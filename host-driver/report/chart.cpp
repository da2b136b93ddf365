// Charts: laid out by hand, in pixels of a picture 900 wide.
// SPDX-License-Identifier: BSD-3-Clause
#include "report/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "report/page.hpp"

namespace hz::rep {

namespace {

constexpr double width = 900, left = 170, right = 90, inner = width - left - right;
constexpr double legend_height = 24, axis_height = 38, row_height = 20, bar_height = 14, curve_height = 260;
constexpr double least_label = 34; // pixels of a bar with room for its value
constexpr double ticks_wanted = 6, lowest_shown = 0.01;
constexpr std::array colors = {"#6f9fd0", "#e0904f", "#5a9a5a", "#a65a8d", "#8c7a4f", "#c94f4f"}; // visible inverted, too: report.css
constexpr const char *pale = "#b9c3cd";

[[gnu::format(printf, 1, 2)]] std::string svg_print(const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return text;
}

const char *color(const Series &series, size_t i) { return series.pale ? pale : colors[i % colors.size()]; }

std::string label(double x, double y, const char *anchor, const std::string &text)
{
	return svg_print("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor) + escaped(text) + "</text>\n";
}

std::string title_of(const std::string &text) { return "<title>" + escaped(text) + "</title>"; }

std::string line(double x1, double y1, double x2, double y2)
{
	return svg_print("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", x1, y1, x2, y2);
}

std::string svg(double height, const std::string &inside)
{
	return svg_print("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
			 "font-family=\"sans-serif\" font-size=\"11\">\n",
			 width, height, width, height) +
	       inside + "</svg>";
}

std::string legend(const std::vector<Series> &series)
{
	constexpr double swatch = 11, letter = 7, gap = 30;
	std::string out;
	double x = left;
	for (size_t i = 0; i < series.size(); i++) {
		out += svg_print("<rect x=\"%.1f\" y=\"4\" width=\"%.0f\" height=\"%.0f\" fill=\"%s\"/>", x, swatch, swatch,
				 color(series[i], i)) +
		       label(x + swatch + 4, 14, "start", series[i].name);
		x += gap + letter * double(series[i].name.size());
	}
	return out;
}

// 1, 2 or 5 times a power of ten.
double step_for(double full)
{
	const double rough = full / ticks_wanted, power = std::pow(10, std::floor(std::log10(rough)));
	for (const double step : {1.0, 2.0, 5.0})
		if (rough <= step * power)
			return step * power;
	return 10 * power;
}

double longest(size_t rows, const std::vector<Series> &series)
{
	double out = 0;
	for (size_t r = 0; r < rows; r++) {
		double sum = 0;
		for (const Series &s : series)
			sum += std::max(0.0, s.values[r]);
		out = std::max(out, sum);
	}
	return out > 0 ? out : 1;
}

std::string linear_axis(const std::string &unit, double full, double bottom)
{
	const double step = step_for(full);
	std::string out;
	for (double at = 0; at <= full * 1.0001; at += step) {
		const double x = left + inner * at / full;
		out += line(x, legend_height, x, bottom) + label(x, bottom + 14, "middle", short_number(at));
	}
	return out + label(left + inner / 2, bottom + 30, "middle", unit);
}

std::string bar(const std::vector<Series> &series, size_t row, const std::string &name, const std::string &unit, double full, double y)
{
	std::string out;
	double x = left;
	for (size_t i = 0; i < series.size(); i++) {
		const double value = std::max(0.0, series[i].values[row]), length = inner * value / full;
		out += svg_print("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\">", x, y, length, bar_height,
				 color(series[i], i)) +
		       title_of(name + ", " + series[i].name + ": " + short_number(value) + " " + unit) + "</rect>\n";
		if (series.size() > 1 && length >= least_label)
			out += label(x + length / 2, y + 11, "middle", short_number(value));
		x += length;
	}
	return series.size() > 1 ? out : out + label(x + 5, y + 11, "start", short_number(series[0].values[row]));
}

struct LogAxis {
	double low, high; // decades

	double y(double value) const { return legend_height + curve_height * (1 - (std::log10(value) - low) / (high - low)); }
};

bool shown(double value) { return value >= lowest_shown; }

LogAxis axis_for(const std::vector<Series> &series)
{
	double low = 1e300, high = lowest_shown;
	for (const Series &s : series)
		for (const double value : s.values)
			if (shown(value)) {
				low = std::min(low, value);
				high = std::max(high, value);
			}
	const double first = std::floor(std::log10(std::min(low, high))), last = std::ceil(std::log10(high));
	return {first, std::max(last, first + 1)};
}

std::string log_lines(const LogAxis &axis, const std::string &unit)
{
	std::string out;
	for (double decade = axis.low; decade <= axis.high; decade++)
		for (const double part : {1.0, 2.0, 5.0}) {
			const double value = part * std::pow(10, decade);
			if (value > std::pow(10, axis.high) * 1.0001)
				continue;
			out += line(left, axis.y(value), left + inner, axis.y(value)) +
			       label(left - 8, axis.y(value) + 4, "end", short_number(value) + " " + unit);
		}
	return out;
}

std::string curve(const LogAxis &axis, const Series &s, const std::vector<std::string> &columns, const std::string &unit, size_t number)
{
	std::string points, marks;
	for (size_t i = 0; i < columns.size(); i++) {
		if (!shown(s.values[i]))
			continue;
		const double x = left + inner * (double(i) + 0.5) / double(columns.size()), y = axis.y(s.values[i]);
		points += svg_print("%.1f,%.1f ", x, y);
		marks += svg_print("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\">", x, y, color(s, number)) +
			 title_of(s.name + ", " + columns[i] + ": " + short_number(s.values[i]) + " " + unit) + "</circle>\n";
	}
	return "<polyline points=\"" + points + "\" fill=\"none\" stroke=\"" + color(s, number) + "\"/>\n" + marks;
}

} // namespace

std::string short_number(double value)
{
	return svg_print(value == std::floor(value) || std::fabs(value) >= 100 ? "%.0f" : std::fabs(value) >= 10 ? "%.1f" : "%.2f", value);
}

std::string bar_chart(const std::string &unit, const std::vector<std::string> &rows, const std::vector<Series> &series, double full)
{
	const double end = full > 0 ? full : longest(rows.size(), series), bottom = legend_height + row_height * double(rows.size());
	std::string out = series.size() > 1 ? legend(series) : "";
	out += linear_axis(unit, end, bottom);
	for (size_t r = 0; r < rows.size(); r++) {
		const double y = legend_height + row_height * double(r) + (row_height - bar_height) / 2;
		out += label(left - 8, y + 11, "end", rows[r]) + bar(series, r, rows[r], unit, end, y);
	}
	return svg(bottom + axis_height, out);
}

std::string line_chart(const std::string &unit, const std::vector<std::string> &columns, const std::vector<Series> &series)
{
	const LogAxis axis = axis_for(series);
	std::string out = legend(series) + log_lines(axis, unit);
	for (size_t i = 0; i < columns.size(); i++)
		out += label(left + inner * (double(i) + 0.5) / double(columns.size()), legend_height + curve_height + 18, "middle",
			     columns[i]);
	for (size_t i = 0; i < series.size(); i++)
		out += curve(axis, series[i], columns, unit, i);
	return svg(legend_height + curve_height + axis_height, out);
}

} // namespace hz::rep
