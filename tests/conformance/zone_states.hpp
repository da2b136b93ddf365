// States of a zone, in words short enough for tables.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "nvme.h"

namespace conform {

constexpr auto empty = NVME_ZS_EMPTY, implicit = NVME_ZS_IMPLICIT_OPEN, explicit_ = NVME_ZS_EXPLICIT_OPEN, closed = NVME_ZS_CLOSED,
	       full = NVME_ZS_FULL;

} // namespace conform
