// Controllers of hosts: fabrics commands and I/O commands. Admin commands are in controller_admin.cpp.
// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/controller.hpp"

#include <algorithm>
#include <cstring>

namespace hz::fabrics {

namespace {

constexpr uint64_t keep_alive_grace = 2;                      // grace, in multiples of the promised interval, before a host counts as
							      // silent
constexpr uint32_t in_data = 1 << 16;                         // invalid parameter of Connect: the offset is in its data
constexpr uint32_t offset_of_queue = 42, offset_of_size = 44; // Connect's fields in the command
constexpr uint32_t offset_of_controller = 16, offset_of_subsystem = 256, offset_of_host = 512;
constexpr uint16_t least_controller = 1, most_controller = 0xffef;

ConnectFields connect_fields(const nvme_sqe &sqe)
{
	return read_record<ConnectFields>(std::as_bytes(std::span(&sqe, 1)), offsetof(nvme_sqe, cdw10));
}
PropertyFields property_fields(const nvme_sqe &sqe)
{
	return read_record<PropertyFields>(std::as_bytes(std::span(&sqe, 1)), offsetof(nvme_sqe, cdw10));
}

AuthFields auth_fields(const nvme_sqe &sqe)
{
	return read_record<AuthFields>(std::as_bytes(std::span(&sqe, 1)), offsetof(nvme_sqe, cdw10));
}

bool is_name(const char (&field)[256], const std::string &name) { return std::string(field, strnlen(field, sizeof(field))) == name; }
std::string name_of(const char (&field)[256]) { return {field, strnlen(field, sizeof(field))}; }

uint8_t fabrics_type(const nvme_sqe &sqe) { return static_cast<uint8_t>(sqe.nsid); }

template <size_t n> void put_text(char (&field)[n], const std::string &text)
{
	std::memcpy(field, text.data(), std::min(n - 1, text.size()));
}

} // namespace

Subsystem::Subsystem(SubsystemOptions options, Backend &backend, std::span<const uint32_t> attached)
	: options_(std::move(options)), backend_(backend), exports_(*options_.device, attached, options_.name),
	  lane_queues_(backend.lanes())
{
}

void Subsystem::closed(Connection &) {}

void Subsystem::execute(Connection &connection, const ExchangePtr &exchange)
{
	if (exchange->sqe.opcode == opcode_fabrics && fabrics_type(exchange->sqe) == type_connect)
		return connect(connection, exchange);
	connection.answer(exchange, {NVME_COMMAND_SEQUENCE, true, 0});
}

Subsystem::Refusal Subsystem::check(const ConnectFields &fields, const ConnectData &data) const
{
	if (fields.format)
		return {status_connect_format, 0};
	const bool discovery = is_name(data.subsystem, discovery_name);
	if (!discovery && !is_name(data.subsystem, options_.name))
		return {status_connect_invalid, offset_of_subsystem | in_data};
	if (!data.host[0] || !std::memchr(data.host, 0, sizeof(data.host)))
		return {status_connect_invalid, offset_of_host | in_data};
	if (!options_.access.hosts.empty() && !options_.access.hosts.count(name_of(data.host)))
		return {status_connect_host, 0};
	if (fields.qid > (discovery ? 0 : options_.queues))
		return {status_connect_invalid, offset_of_queue};
	if (!fields.sqsize || fields.sqsize >= Connection::most_entries)
		return {status_connect_invalid, offset_of_size};
	if ((fields.qid != 0) != (data.cntlid != any_controller))
		return {status_connect_invalid, offset_of_controller | in_data};
	return {};
}

uint16_t Subsystem::free_id()
{
	do
		last_id_ = last_id_ == most_controller ? least_controller : static_cast<uint16_t>(last_id_ + 1);
	while (controllers_.count(last_id_));
	return last_id_;
}

std::shared_ptr<HostController> Subsystem::controller_for(const ConnectFields &fields, const ConnectData &data, Refusal &refusal)
{
	if (!fields.qid) {
		const uint16_t id = free_id();
		auto made = std::make_shared<HostController>(weak_from_this(), id, is_name(data.subsystem, discovery_name), fields, data);
		return controllers_[id] = made;
	}
	const auto found = controllers_.find(data.cntlid);
	if (found == controllers_.end())
		refusal = {status_connect_invalid, offset_of_controller | in_data};
	else if (!found->second->belongs_to(data))
		refusal = {status_connect_host, 0};
	else if (!found->second->enabled())
		refusal = {NVME_COMMAND_SEQUENCE, 0};
	else if (found->second->has_queue(fields.qid))
		refusal = {NVME_COMMAND_SEQUENCE, 0};
	return refusal.status ? nullptr : found->second;
}

void Subsystem::connect(Connection &connection, const ExchangePtr &exchange)
{
	const ConnectFields fields = connect_fields(exchange->sqe);
	if (exchange->out.size() < sizeof(ConnectData))
		return connection.answer(exchange, {status_sgl_length, true, 0});
	const auto data = read_record<ConnectData>(exchange->out);
	Refusal refusal = check(fields, data);
	const auto controller = refusal.status ? nullptr : controller_for(fields, data, refusal);
	if (!controller)
		return connection.answer(exchange, {refusal.status, true, refusal.field});
	const bool flow_control = !(fields.attributes & connect_no_flow_control);
	connection.become(fields.qid, static_cast<uint16_t>(fields.sqsize + 1), flow_control, controller);
	controller->add(connection, fields.qid);
	connection.answer(exchange, {0, false, controller->id() | (controller->authenticates() ? connect_authenticate : 0)});
}

void Subsystem::look_for_silence(Clock::time_point now)
{
	const auto all = controllers_;
	for (const auto &[id, controller] : all) {
		if (controller->silent(now))
			controller->end("its host was silent for longer than it promised");
		controller->end_unauthenticated(now);
	}
}

unsigned Subsystem::take_lane()
{
	const auto least = std::min_element(lane_queues_.begin(), lane_queues_.end());
	(*least)++;
	const auto lane = static_cast<unsigned>(least - lane_queues_.begin());
	backend_.use(lane);
	return lane;
}

void Subsystem::leave_lane(unsigned lane) { lane_queues_[lane]--; }
void Subsystem::forget(uint16_t cntlid) { controllers_.erase(cntlid); }

void Subsystem::renew_exports(std::function<void()> then)
{
	auto job = std::make_shared<Job>();
	job->sqe.opcode = NVME_ADMIN_IDENTIFY;
	job->sqe.cdw10 = NVME_CNS_ACTIVE_NAMESPACES;
	job->in.resize(4096);
	job->done = [weak = weak_from_this(), then = std::move(then)](Job &answered) {
		const auto self = weak.lock();
		if (!self || answered.answer.status)
			return then();
		std::vector<uint32_t> attached;
		for (size_t at = 0; at < answered.in.size(); at += 4)
			if (const auto nsid = read_record<uint32_t>(answered.in, at))
				attached.push_back(nsid);
		std::set<uint32_t> before, changed;
		for (const Export &one : self->exports_.all())
			before.insert(one.nsid);
		self->exports_ = Exports(*self->options_.device, attached, self->options_.name);
		std::set<uint32_t> after;
		for (const Export &one : self->exports_.all())
			after.insert(one.nsid);
		std::set_symmetric_difference(before.begin(), before.end(), after.begin(), after.end(),
					      std::inserter(changed, changed.end()));
		then();
		const auto all = self->controllers_;
		for (const auto &[id, controller] : all)
			controller->notify(changed);
	};
	backend_.admin(std::move(job));
}

Bytes Subsystem::discovery_log() const
{
	Bytes log(sizeof(DiscoveryHead) + sizeof(DiscoveryEntry));
	DiscoveryHead head{};
	head.generation = generation_;
	head.records = 1;
	DiscoveryEntry entry{};
	entry.transport = transport_tcp;
	entry.family = options_.address.find(':') == std::string::npos ? family_ipv4 : family_ipv6;
	entry.kind = kind_nvm;
	entry.requirements = may_disable_flow_control;
	entry.cntlid = any_controller;
	entry.admin_entries = 32;
	put_text(entry.service, options_.service);
	put_text(entry.subsystem, options_.name);
	put_text(entry.address, options_.address);
	write_record(std::span(log), head);
	write_record(std::span(log), entry, sizeof(head));
	return log;
}

HostController::HostController(std::weak_ptr<Subsystem> subsystem, uint16_t id, bool discovery, const ConnectFields &fields,
			       const ConnectData &data)
	: subsystem_(std::move(subsystem)), id_(id), discovery_(discovery), host_id_(std::to_array(data.host_id)),
	  host_(name_of(data.host)), keep_alive_(fields.kato_ms), heard_(Clock::now())
{
}

bool HostController::belongs_to(const ConnectData &data) const
{
	return !discovery_ && host_id_ == std::to_array(data.host_id) && is_name(data.host, host_);
}
bool HostController::enabled() const { return configuration_ & NVME_CC_EN; }

void HostController::add(Connection &connection, uint16_t qid)
{
	const auto subsystem = subsystem_.lock();
	Queue queue{.connection = connection.weak_from_this(), .begun = Clock::now()};
	if (subsystem && qid)
		queue.lane = subsystem->take_lane();
	if (subsystem && authenticates())
		queue.authentication = std::make_shared<Authentication>(subsystem->options().access, host_, subsystem->options().name);
	queues_[qid] = queue;
}

bool HostController::silent(Clock::time_point now) const { return keep_alive_.count() && now - heard_ > keep_alive_ * keep_alive_grace; }

// The discovery subsystem says nothing that the key protects.
bool HostController::authenticates() const
{
	const auto subsystem = subsystem_.lock();
	return !discovery_ && subsystem && subsystem->options().access.key;
}

void HostController::end_unauthenticated(Clock::time_point now)
{
	const auto subsystem = subsystem_.lock();
	const auto self = shared_from_this();
	const auto all = queues_;
	for (const auto &[qid, queue] : all)
		if (queue.authentication && queue.authentication->unfinished() &&
		    now - queue.begun > subsystem->options().authentication_limit)
			if (const auto connection = queue.connection.lock())
				connection->end("its host did not authenticate");
}

// Ends its connections, the admin queue's last; each calls closed().
void HostController::end(const std::string &why)
{
	const auto self = shared_from_this();
	while (!queues_.empty()) {
		const auto last = std::prev(queues_.end());
		const auto connection = last->second.connection.lock();
		const uint16_t qid = last->first;
		if (connection)
			connection->end(why);
		queues_.erase(qid);
	}
	if (const auto subsystem = subsystem_.lock())
		subsystem->forget(id_);
}

void HostController::closed(Connection &connection)
{
	const auto found = queues_.find(connection.qid());
	if (found == queues_.end() || found->second.connection.lock().get() != &connection)
		return;
	const unsigned lane = found->second.lane;
	queues_.erase(found);
	const auto subsystem = subsystem_.lock();
	if (connection.qid()) {
		if (subsystem)
			subsystem->leave_lane(lane);
		return;
	}
	event_requests_.clear();
	end("the connection of its admin queue has ended");
}

void HostController::reply(const ExchangePtr &exchange, Answer answer, std::span<const std::byte> data)
{
	if (const auto connection = exchange->connection.lock())
		connection->answer(exchange, answer, data);
}

void HostController::execute(Connection &connection, const ExchangePtr &exchange)
{
	heard_ = Clock::now();
	const auto authentication = queues_.at(connection.qid()).authentication;
	const bool proves = exchange->sqe.opcode == opcode_fabrics &&
			    (fabrics_type(exchange->sqe) == type_auth_send || fabrics_type(exchange->sqe) == type_auth_receive);
	if (authentication && proves)
		return authenticate(connection, exchange, *authentication);
	if (authentication && !authentication->done())
		return refuse(exchange, status_authentication_required);
	if (exchange->sqe.opcode == opcode_fabrics)
		return fabrics(connection, exchange);
	if (!enabled())
		return refuse(exchange, NVME_COMMAND_SEQUENCE);
	if (!connection.qid())
		return admin(exchange);
	io(exchange, queues_.at(connection.qid()));
}

void HostController::fabrics(Connection &connection, const ExchangePtr &exchange)
{
	const uint8_t type = fabrics_type(exchange->sqe);
	if (type == type_property_get && !connection.qid())
		return property_get(exchange);
	if (type == type_property_set && !connection.qid())
		return property_set(exchange);
	if (type == type_connect)
		return refuse(exchange, NVME_COMMAND_SEQUENCE);
	if (type != type_disconnect || !connection.qid())
		return refuse(exchange, NVME_INVALID_OPCODE);
	reply(exchange);
	connection.flush();
	connection.end("its host disconnected the queue");
}

// A message of the host, or the one that is due to it. The queue ends with a failure.
void HostController::authenticate(Connection &connection, const ExchangePtr &exchange, Authentication &authentication)
{
	const AuthFields fields = auth_fields(exchange->sqe);
	if (fields.protocol != auth_protocol || fields.specific0 != auth_specific || fields.specific1 != auth_specific || !fields.length ||
	    fields.length > most_transfer)
		return refuse(exchange, NVME_INVALID_FIELD);
	const bool gives = exchange->direction == Direction::to_device;
	if (gives ? exchange->out.size() < fields.length : exchange->length < fields.length)
		return refuse(exchange, status_sgl_length);
	Bytes message;
	if (gives) {
		authentication.receive(std::span(exchange->out).first(fields.length));
	} else {
		message = authentication.due();
		if (message.size() > fields.length)
			return refuse(exchange, NVME_INVALID_FIELD);
		authentication.delivered();
		message.resize(fields.length);
	}
	reply(exchange, {}, message);
	if (!authentication.failed())
		return;
	connection.flush();
	connection.end("its host did not authenticate");
}

void HostController::property_get(const ExchangePtr &exchange)
{
	const PropertyFields fields = property_fields(exchange->sqe);
	const uint32_t offset = fields.offset;
	uint64_t value = 0;
	if (offset == NVME_REG_CAP && (fields.size & 7) == 1)
		value = (Connection::most_entries - 1u) | 1ull << NVME_CAP_CQR | 30ull << NVME_CAP_TO |
			uint64_t(discovery_ ? NVME_CAP_CSS_NVM : NVME_CAP_CSS_NVM | NVME_CAP_CSS_CSI) << NVME_CAP_CSS;
	else if (offset == NVME_REG_VS)
		value = NVME_VERSION_2_0;
	else if (offset == NVME_REG_CC)
		value = configuration_;
	else if (offset == NVME_REG_CSTS)
		value = (enabled() ? NVME_CSTS_RDY : 0) | (shut_down_ ? NVME_CSTS_SHST_COMPLETE : 0);
	else
		return refuse(exchange, NVME_INVALID_FIELD);
	reply(exchange, {0, false, value});
}

void HostController::property_set(const ExchangePtr &exchange)
{
	const PropertyFields fields = property_fields(exchange->sqe);
	if (fields.offset != NVME_REG_CC || fields.size & 7)
		return refuse(exchange, NVME_INVALID_FIELD);
	reply(exchange);
	configure(static_cast<uint32_t>(fields.value));
}

// A reset or shutdown removes the I/O queues; the command set stays as the device has it.
void HostController::configure(uint32_t value)
{
	const bool stops = enabled() && !(value & NVME_CC_EN);
	shut_down_ = (value >> NVME_CC_SHN_SHIFT & 3) != NVME_CC_SHN_NONE || (shut_down_ && !stops && !(value & NVME_CC_EN));
	configuration_ = value;
	if (!stops && !shut_down_)
		return;
	while (!queues_.empty() && queues_.rbegin()->first)
		if (const auto connection = queues_.rbegin()->second.connection.lock())
			connection->end("its controller was reset");
		else
			queues_.erase(std::prev(queues_.end()));
	event_requests_.clear();
}

// Each portion is a command to the device; the first failure is the status of the whole.
void HostController::io(const ExchangePtr &exchange, const Queue &queue)
{
	const auto subsystem = subsystem_.lock();
	nvme_sqe sqe = exchange->sqe;
	sqe.flags = 0;
	sqe.prp1 = sqe.prp2 = sqe.mptr = 0;
	const uint64_t bytes = QueuePair::bytes_of(sqe);
	const Export *one = subsystem->exports().find(sqe.nsid);
	if (!one && !(sqe.opcode == NVME_IO_FLUSH && sqe.nsid == NVME_NSID_ALL))
		return refuse(exchange, NVME_INVALID_NAMESPACE);
	if (bytes > most_transfer)
		return refuse(exchange, NVME_INVALID_FIELD);
	if (exchange->length < bytes)
		return refuse(exchange, status_sgl_length);
	std::vector<Portion> portions;
	if (!one)
		portions.push_back({sqe, 0, 0, {}});
	else if (const uint16_t status = one->portions(sqe, exchange->out, portions))
		return refuse(exchange, status);
	auto work = std::make_shared<UnderWay>();
	work->exchange = exchange;
	work->of = one ? *one : Export{};
	work->left = portions.size();
	if (exchange->direction == Direction::to_host)
		work->in.resize(bytes);
	if (portions.empty())
		return reply(exchange);
	under_way_[exchange.get()] = work;
	for (const Portion &portion : portions)
		start(work, portion, queue.lane);
}

void HostController::start(const std::shared_ptr<UnderWay> &work, const Portion &portion, unsigned lane)
{
	auto job = std::make_shared<Job>();
	job->sqe = portion.sqe;
	const Bytes &out = work->exchange->out;
	if (work->exchange->direction == Direction::to_host)
		job->in.resize(portion.bytes);
	else if (!portion.ranges.empty())
		job->out = portion.ranges;
	else if (portion.bytes == out.size())
		job->out = std::move(work->exchange->out);
	else if (portion.bytes)
		job->out.assign(out.begin() + static_cast<ptrdiff_t>(portion.offset),
				out.begin() + static_cast<ptrdiff_t>(portion.offset + portion.bytes));
	job->done = [weak = weak_from_this(), work, offset = portion.offset](Job &done) {
		if (const auto self = weak.lock())
			self->portion_done(work, offset, done);
	};
	work->jobs.push_back(job);
	work->lane = lane;
	subsystem_.lock()->backend().io(lane, std::move(job));
}

void HostController::portion_done(const std::shared_ptr<UnderWay> &work, uint64_t offset, Job &job)
{
	if (job.in.size() == work->in.size())
		work->in.swap(job.in);
	else
		std::copy(job.in.begin(), job.in.end(), work->in.begin() + static_cast<ptrdiff_t>(offset));
	if (!work->answer.status)
		work->answer = job.answer;
	if (--work->left == 0)
		complete(*work);
}

void HostController::complete(UnderWay &work)
{
	const ExchangePtr exchange = work.exchange;
	under_way_.erase(exchange.get());
	const bool appends = exchange->sqe.opcode == NVME_IO_ZONE_APPEND ||
			     (exchange->sqe.opcode == NVME_IO_COPY && exchange->sqe.cdw3 & NVME_COPY_APPEND);
	if (!work.answer.status && work.of.split) {
		if (appends)
			work.answer.result = work.of.host_block(work.answer.result);
		if (exchange->sqe.opcode == NVME_IO_ZONE_MGMT_RECV)
			work.of.translate_report(work.in);
	}
	reply(exchange, work.answer, work.in);
}

} // namespace hz::fabrics
