/* Words for the enumerations of the device record. */
#include "config/device_names.hpp"

#include <algorithm>

namespace hz::conf {
namespace {

struct SchemeNames {
	std::array<std::string, HZ_PLANE_SCHEMES> text;
	std::array<std::string_view, HZ_PLANE_SCHEMES> view;
	SchemeNames()
	{
		std::string order = "CDPW";
		for (size_t i = 0; i < text.size(); i++) {
			text[i] = order;
			view[i] = text[i];
			std::next_permutation(order.begin(), order.end());
		}
	}
};

} // namespace

std::span<const std::string_view> plane_scheme_names()
{
	static const SchemeNames names;
	return names.view;
}

std::string name_of(std::span<const std::string_view> names, uint32_t value, uint32_t base)
{
	if (value < base || value - base >= names.size())
		return std::to_string(value);
	return std::string(names[value - base]);
}

} // namespace hz::conf
