// Shared by the files of the C interface: the handles, and the conversion of exceptions to return
// values and one sentence per thread.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "hartzone.h"

#include <exception>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "session/capi/c_api_async.hpp"
#include "session/controller.hpp"
#include "session/machine/machine.hpp"

namespace hz::capi {

// A device and its open queues. It lives as long as a handle of either kind does.
struct Device {
	std::unique_ptr<Machine> machine;
	std::unique_ptr<Controller> controller;
	std::string directory;
	std::set<hartzone_queue *> queues;
};

// Text returned by hartzone_error_text(HARTZONE_ERROR).
void set_last_sentence(const char *sentence);

template <class Result, class Action> Result guarded(Result failure, Action action)
{
	try {
		return action();
	} catch (const std::exception &e) {
		set_last_sentence(e.what());
		return failure;
	}
}

// The queue pair; throws Error when the device was closed.
QueuePair &pair_of(const hartzone_queue *queue);
// Runs one command; returns its status, or HARTZONE_ERROR. `result`: of a successful command; may
// be nullptr.
int run(hartzone_queue *queue, const nvme_sqe &sqe, std::span<const std::byte> out = {}, std::span<std::byte> in = {},
	uint64_t *result = nullptr);
// Throws Error unless this number of blocks fits the queue's buffers.
void require_fit(const hartzone_queue *queue, uint64_t blocks);

} // namespace hz::capi

struct hartzone_device {
	std::shared_ptr<hz::capi::Device> state;
};

struct hartzone_queue {
	std::shared_ptr<hz::capi::Device> device;
	std::unique_ptr<hz::QueuePair> pair; // none: the device was closed
	unsigned id = 0;
	uint64_t latency_ns = 0;
	std::unique_ptr<hz::capi::AsyncRequests> async; // from the first request on; goes before the pair
};
