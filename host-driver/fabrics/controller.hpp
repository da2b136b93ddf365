// Subsystem and its controllers: the functions that a fabrics controller has and a PCIe one lacks.
// Connect creates a controller, or adds a queue to it; properties, keep-alive and events are
// answered here; all other commands go to the device, and their answers are adapted to fabrics and
// to the exports. The discovery subsystem has controllers of the same kind, without a device.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "fabrics/authentication.hpp"
#include "fabrics/backend.hpp"
#include "fabrics/exports.hpp"

namespace hz::fabrics {

class HostController;

struct SubsystemOptions {
	std::string name;                                                         // its NQN
	std::string address, service;                                             // where hosts find it, for discovery
	uint16_t queues = 64;                                                     // I/O queues of a controller
	const hz_device_config *device;                                           // lives as long
	Access access = {};                                                       // hosts that may connect, and their key
	std::chrono::milliseconds authentication_limit = std::chrono::minutes(2); // of a queue, after Connect
};

class Subsystem final : public CommandSink, public std::enable_shared_from_this<Subsystem> {
public:
	// The device's namespaces that are attached now; later changes that hosts ask for are followed.
	Subsystem(SubsystemOptions options, Backend &backend, std::span<const uint32_t> attached);

	// For a connection before Connect.
	void execute(Connection &connection, const ExchangePtr &exchange) override;
	void closed(Connection &connection) override;

	// Ends controllers whose hosts exceeded their keep-alive interval, and queues whose hosts did not
	// authenticate in time.
	void look_for_silence(Clock::time_point now);
	size_t controllers() const { return controllers_.size(); }
	bool has_controller(uint16_t cntlid) const { return controllers_.count(cntlid) != 0; }

	const SubsystemOptions &options() const { return options_; }
	Backend &backend() { return backend_; }
	const Exports &exports() const { return exports_; }
	// The lane with the fewest queues; to be left again.
	unsigned take_lane();
	void leave_lane(unsigned lane);
	void forget(uint16_t cntlid);
	// A command has changed the list of namespaces: reads it again, calls `then`, and notifies all hosts.
	void renew_exports(std::function<void()> then);
	Bytes discovery_log() const;

private:
	struct Refusal {
		uint16_t status;
		uint32_t field; // the wrong field, with a flag bit if it is in the data
	};
	void connect(Connection &connection, const ExchangePtr &exchange);
	Refusal check(const ConnectFields &fields, const ConnectData &data) const;
	std::shared_ptr<HostController> controller_for(const ConnectFields &fields, const ConnectData &data, Refusal &refusal);
	uint16_t free_id();

	SubsystemOptions options_;
	Backend &backend_;
	Exports exports_;
	std::map<uint16_t, std::shared_ptr<HostController>> controllers_;
	std::vector<unsigned> lane_queues_;
	uint16_t last_id_ = 0;
	uint64_t generation_ = 1;
};

class HostController final : public CommandSink, public std::enable_shared_from_this<HostController> {
public:
	HostController(std::weak_ptr<Subsystem> subsystem, uint16_t id, bool discovery, const ConnectFields &fields,
		       const ConnectData &data);

	uint16_t id() const { return id_; }
	bool belongs_to(const ConnectData &data) const;
	bool enabled() const;
	bool has_queue(uint16_t qid) const { return queues_.count(qid) != 0; }
	void add(Connection &connection, uint16_t qid);
	// A queue of it must authenticate before its first other command.
	bool authenticates() const;
	bool silent(Clock::time_point now) const;
	void end_unauthenticated(Clock::time_point now);
	// Ends all of its connections.
	void end(const std::string &why);
	// The list of namespaces has changed for these.
	void notify(const std::set<uint32_t> &nsids);

	void execute(Connection &connection, const ExchangePtr &exchange) override;
	void closed(Connection &connection) override;

private:
	struct Queue {
		std::weak_ptr<Connection> connection;
		unsigned lane = 0;                              // of an I/O queue
		std::shared_ptr<Authentication> authentication; // none: it needs none
		Clock::time_point begun{};
	};
	// An I/O command that is in the backend, in one or more portions.
	struct UnderWay {
		ExchangePtr exchange;
		Export of;
		Bytes in;
		Answer answer;
		unsigned lane = 0;
		std::vector<std::weak_ptr<Job>> jobs; // the backend's
		size_t left = 0;
	};
	using Edit = std::function<void(HostController &, const Exchange &, Answer &, Bytes &)>;

	// Answers given here.
	static void reply(const ExchangePtr &exchange, Answer answer = {}, std::span<const std::byte> data = {});
	static void refuse(const ExchangePtr &exchange, uint16_t status) { reply(exchange, {status, true, 0}); }

	void fabrics(Connection &connection, const ExchangePtr &exchange);
	void authenticate(Connection &connection, const ExchangePtr &exchange, Authentication &authentication);
	void property_get(const ExchangePtr &exchange);
	void property_set(const ExchangePtr &exchange);
	void configure(uint32_t value);

	void admin(const ExchangePtr &exchange);
	void identify(const ExchangePtr &exchange);
	bool identify_here(const ExchangePtr &exchange);
	void identify_discovery(const ExchangePtr &exchange);
	void edit_controller(Bytes &page) const;
	void edit_namespace(const Export &one, Bytes &page) const;
	void edit_descriptors(const Export &one, Bytes &page) const;
	void get_log(const ExchangePtr &exchange);
	void reply_log(const ExchangePtr &exchange, const Bytes &log);
	void set_features(const ExchangePtr &exchange);
	void get_features(const ExchangePtr &exchange);
	void hold_event_request(const ExchangePtr &exchange);
	void send_events();
	void abort(const ExchangePtr &exchange);
	void send_to_device(const ExchangePtr &exchange, uint32_t bytes, std::function<void(Job &)> done);
	void pass(const ExchangePtr &exchange, uint32_t bytes, Edit edit = {});
	void name_controllers(Bytes &out) const;
	void change_namespaces(const ExchangePtr &exchange);
	void format(const ExchangePtr &exchange);

	void io(const ExchangePtr &exchange, const Queue &queue);
	void start(const std::shared_ptr<UnderWay> &work, const Portion &portion, unsigned lane);
	void portion_done(const std::shared_ptr<UnderWay> &work, uint64_t offset, Job &job);
	void complete(UnderWay &work);

	std::weak_ptr<Subsystem> subsystem_;
	uint16_t id_;
	bool discovery_;
	std::array<uint8_t, 16> host_id_;
	std::string host_;
	uint32_t configuration_ = 0; // CC
	bool shut_down_ = false, changed_unread_ = false;
	std::chrono::milliseconds keep_alive_;
	Clock::time_point heard_;
	uint32_t event_configuration_ = 0;
	std::deque<ExchangePtr> event_requests_;
	std::set<uint32_t> changed_; // namespaces, since the log was read
	std::map<uint16_t, Queue> queues_;
	std::map<const Exchange *, std::shared_ptr<UnderWay>> under_way_;
};

} // namespace hz::fabrics
