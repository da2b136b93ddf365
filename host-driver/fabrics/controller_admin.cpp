// Controllers of hosts: admin commands. Those for queues, keep-alive and events are handled here,
// the others go to the device.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "fabrics/controller.hpp"

namespace hz::fabrics {

namespace {

constexpr uint32_t page_bytes = 4096;
constexpr uint16_t keep_alive_unit = 10; // KAS, of 100 ms
constexpr size_t event_requests = 4;     // AERL, 0's based: 3
constexpr uint32_t sgls_supported = 1, sgls_in_capsule = 1 << 20;
constexpr uint32_t notice_discovery = 1u << 31; // the log of a discovery controller may change
constexpr uint32_t create_namespace = 0;        // of Namespace Management: SEL

// Fields of Identify Controller for fabrics controllers.
struct FabricsFields {
	uint32_t capsule_units, response_units; // of 16 bytes
	uint16_t data_offset;
	uint8_t attributes, most_descriptors;
};
constexpr size_t fabrics_fields_at = 1792, keep_alive_at = 320;

uint32_t cns_of(const nvme_sqe &sqe) { return sqe.cdw10 & 0xff; }
uint32_t log_bytes(const nvme_sqe &sqe)
{
	return static_cast<uint32_t>(std::min<uint64_t>(((sqe.cdw10 >> 16 | uint64_t(sqe.cdw11 & 0xffff) << 16) + 1) * 4, UINT32_MAX));
}
uint64_t log_offset(const nvme_sqe &sqe) { return sqe.cdw12 | uint64_t(sqe.cdw13) << 32; }

void put_unique(uint8_t (&field)[8], uint64_t unique) { std::memcpy(field, &unique, sizeof(field)); }

// Feature 1Eh: how many types of events the data have.
uint32_t event_types(const nvme_sqe &sqe) { return (sqe.cdw10 & 0xff) == NVME_FEAT_FDP_EVENTS ? sqe.cdw11 >> 16 & 0xff : 0; }

uint32_t out_bytes(const nvme_sqe &sqe)
{
	if (sqe.opcode == NVME_ADMIN_SET_FEATURES)
		return event_types(sqe);
	const bool creates = sqe.opcode == NVME_ADMIN_NAMESPACE_MANAGEMENT && (sqe.cdw10 & 0xf) == create_namespace;
	return creates || sqe.opcode == NVME_ADMIN_NAMESPACE_ATTACHMENT ? page_bytes : 0;
}

} // namespace

void HostController::admin(const ExchangePtr &exchange)
{
	switch (exchange->sqe.opcode) {
	case opcode_keep_alive: return reply(exchange);
	case NVME_ADMIN_IDENTIFY: return discovery_ ? identify_discovery(exchange) : identify(exchange);
	case NVME_ADMIN_GET_LOG_PAGE: return get_log(exchange);
	case NVME_ADMIN_SET_FEATURES: return set_features(exchange);
	case NVME_ADMIN_GET_FEATURES: return get_features(exchange);
	case NVME_ADMIN_ASYNC_EVENT: return hold_event_request(exchange);
	case NVME_ADMIN_ABORT: return abort(exchange);
	case NVME_ADMIN_CREATE_SQ:
	case NVME_ADMIN_CREATE_CQ:
	case NVME_ADMIN_DELETE_SQ:
	case NVME_ADMIN_DELETE_CQ:
	case NVME_ADMIN_DBBUF: return refuse(exchange, NVME_INVALID_OPCODE);
	}
	if (discovery_)
		return refuse(exchange, NVME_INVALID_OPCODE);
	if (exchange->sqe.opcode == NVME_ADMIN_NAMESPACE_MANAGEMENT || exchange->sqe.opcode == NVME_ADMIN_NAMESPACE_ATTACHMENT)
		return change_namespaces(exchange);
	if (exchange->sqe.opcode == NVME_ADMIN_FORMAT_NVM)
		return format(exchange);
	pass(exchange, exchange->direction == Direction::to_host ? exchange->length : 0);
}

// bytes: that the device returns.
void HostController::send_to_device(const ExchangePtr &exchange, uint32_t bytes, std::function<void(Job &)> done)
{
	const auto subsystem = subsystem_.lock();
	if (exchange->direction == Direction::to_host ? exchange->length < bytes : exchange->out.size() < out_bytes(exchange->sqe))
		return refuse(exchange, status_sgl_length);
	auto job = std::make_shared<Job>();
	job->sqe = exchange->sqe;
	job->sqe.flags = 0;
	job->sqe.prp1 = job->sqe.prp2 = job->sqe.mptr = 0;
	if (const Export *one = subsystem->exports().find(job->sqe.nsid))
		job->sqe.nsid = one->device_nsid;
	job->out = exchange->out;
	if (exchange->direction == Direction::to_host)
		job->in.resize((bytes + 3) & ~3u);
	job->done = std::move(done);
	subsystem->backend().admin(std::move(job));
}

// The edit sees an answer that succeeded.
void HostController::pass(const ExchangePtr &exchange, uint32_t bytes, Edit edit)
{
	send_to_device(exchange, bytes, [weak = weak_from_this(), exchange, edit, bytes](Job &done) {
		done.in.resize(std::min<size_t>(done.in.size(), bytes));
		if (const auto self = weak.lock(); self && edit && !done.answer.status)
			edit(*self, *exchange, done.answer, done.in);
		reply(exchange, done.answer, done.in);
	});
}

// Hosts name their controllers by the ids that they have here. The device has one for all of them; an empty list is refused by it.
void HostController::name_controllers(Bytes &out) const
{
	const auto subsystem = subsystem_.lock();
	if (out.size() < page_bytes)
		return;
	const auto given = read_record<nvme_controller_list>(out);
	const size_t count = std::min(size_t(given.count), std::size(given.id));
	const bool known = std::all_of(given.id, given.id + count, [&](uint16_t id) { return subsystem->has_controller(id); });
	nvme_controller_list list{};
	list.count = known && count;
	list.id[0] = NVME_HZ_CONTROLLER_ID;
	write_record(std::span(out), list);
}

// One of the two exports of a split namespace cannot be removed alone.
void HostController::change_namespaces(const ExchangePtr &exchange)
{
	const Export *one = subsystem_.lock()->exports().find(exchange->sqe.nsid);
	if (one && one->split && !one->zoned)
		return refuse(exchange, NVME_INVALID_NAMESPACE);
	if (exchange->sqe.opcode == NVME_ADMIN_NAMESPACE_ATTACHMENT)
		name_controllers(exchange->out);
	send_to_device(exchange, 0, [weak = subsystem_, exchange](Job &done) {
		const auto subsystem = weak.lock();
		const auto answer = [exchange, given = done.answer] { reply(exchange, given, {}); };
		// The host may use the namespace when it has the answer. A device that did not answer may have changed it, too.
		if (subsystem && (!done.answer.status || done.answer.status == NVME_INTERNAL_ERROR))
			subsystem->renew_exports(answer);
		else
			answer();
	});
}

// Hosts see neither metadata nor the other half of a split namespace, which would lose its data too.
void HostController::format(const ExchangePtr &exchange)
{
	const auto subsystem = subsystem_.lock();
	const Export *one = subsystem->exports().find(exchange->sqe.nsid);
	if (one ? one->split : std::ranges::any_of(subsystem->exports().all(), &Export::split))
		return refuse(exchange, NVME_INVALID_NAMESPACE);
	if (subsystem->options().device->protection == HZ_PROTECTION_TYPE1 && !(exchange->sqe.cdw10 >> NVME_FORMAT_PI & 7))
		exchange->sqe.cdw10 |= NVME_DPS_TYPE1 << NVME_FORMAT_PI;
	pass(exchange, 0);
}

void HostController::edit_controller(Bytes &page) const
{
	auto id = read_record<nvme_identify_controller>(page);
	const auto subsystem = subsystem_.lock();
	id.cntlid = id_;
	id.cntrltype = controller_io;
	id.aerl = event_requests - 1;
	id.oacs &= static_cast<uint16_t>(~NVME_OACS_DBBUF);
	id.maxcmd = Connection::most_entries;
	id.nn = id.mnan = subsystem->exports().count();
	id.sgls = sgls_supported | sgls_in_capsule;
	id.oaes = NVME_NOTICE_NAMESPACES;
	std::memset(id.subnqn, 0, sizeof(id.subnqn));
	std::memcpy(id.subnqn, subsystem->options().name.data(), std::min(sizeof(id.subnqn) - 1, subsystem->options().name.size()));
	write_record(std::span(page), id);
	write_record(std::span(page), keep_alive_unit, keep_alive_at);
	write_record(std::span(page), FabricsFields{(sizeof(nvme_sqe) + most_in_capsule) / 16, sizeof(nvme_cqe) / 16, 0, 0, 1},
		     fabrics_fields_at);
}

// Protection information is between this program and the device: hosts see no metadata.
void HostController::edit_namespace(const Export &one, Bytes &page) const
{
	auto id = read_record<nvme_identify_namespace>(page);
	if (!id.nsze)
		return;
	id.lbaf[0].ms = 0;
	id.mc = id.dpc = id.dps = 0;
	put_unique(id.eui64, one.unique ^ uint64_t(id.eui64[6]) << 40); // byte 6 counts namespaces re-created in its place
	if (one.split) {
		id.nsze = id.ncap = id.nuse = one.blocks;
		const uint64_t bytes = one.zones * one.capacity_blocks * HZ_SECTOR_BYTES;
		std::memset(id.nvmcap, 0, sizeof(id.nvmcap));
		std::memcpy(id.nvmcap, &bytes, sizeof(bytes));
	}
	write_record(std::span(page), id);
}

void HostController::edit_descriptors(const Export &one, Bytes &page) const
{
	for (size_t at = 0; at + sizeof(nvme_namespace_descriptor) < page.size();) {
		const auto head = read_record<nvme_namespace_descriptor>(page, at);
		const size_t value = at + sizeof(head);
		if (!head.nidl)
			return;
		if (head.nidt == NVME_NIDT_CSI)
			page[value] = std::byte(one.zoned ? NVME_CSI_ZNS : NVME_CSI_NVM);
		if (head.nidt == NVME_NIDT_EUI64)
			write_record(std::span(page), one.unique ^ static_cast<uint64_t>(page[value + 6]) << 40, value);
		at = value + head.nidl;
	}
}

// Data structures that the exports define: lists, and empty pages for other command sets.
bool HostController::identify_here(const ExchangePtr &exchange)
{
	const nvme_sqe &sqe = exchange->sqe;
	const Exports &exports = subsystem_.lock()->exports();
	const uint32_t cns = cns_of(sqe), csi = sqe.cdw11 >> 24;
	const Export *one = exports.find(sqe.nsid);
	const bool split = exports.count() > subsystem_.lock()->options().device->namespaces;
	if (cns == NVME_CNS_CSI_NAMESPACE && csi == NVME_CSI_ZNS && one && !one->zoned && one->split) {
		refuse(exchange, NVME_INVALID_IOCS);
		return true;
	}
	const bool by_set = cns == NVME_CNS_CSI_ACTIVE_NAMESPACES;
	if (!split || !(cns == NVME_CNS_ACTIVE_NAMESPACES || by_set) || sqe.nsid >= NVME_NSID_ALL - 1 || exchange->length < page_bytes)
		return false;
	Bytes page(page_bytes);
	size_t at = 0;
	for (const uint32_t nsid : exports.list(sqe.nsid, by_set ? static_cast<int>(csi) : -1))
		write_record(std::span(page), nsid, at), at += sizeof(nsid);
	reply(exchange, {}, page);
	return true;
}

void HostController::identify(const ExchangePtr &exchange)
{
	if (identify_here(exchange))
		return;
	pass(exchange, page_bytes, [](HostController &self, const Exchange &asked, Answer &, Bytes &page) {
		const auto subsystem = self.subsystem_.lock();
		const Export *one = subsystem ? subsystem->exports().find(asked.sqe.nsid) : nullptr;
		switch (subsystem ? cns_of(asked.sqe) : UINT32_MAX) {
		case NVME_CNS_CONTROLLER: return self.edit_controller(page);
		case NVME_CNS_NAMESPACE:
		case NVME_CNS_ALLOCATED_NAMESPACE: return one ? self.edit_namespace(*one, page) : void();
		case NVME_CNS_DESCRIPTORS: return one ? self.edit_descriptors(*one, page) : void();
		case NVME_CNS_ATTACHED_CONTROLLERS:
		case NVME_CNS_CONTROLLERS:
			if (read_record<uint16_t>(page))
				write_record(std::span(page), self.id_, sizeof(uint16_t)); // replaces the device's only one
		}
	});
}

void HostController::identify_discovery(const ExchangePtr &exchange)
{
	if (cns_of(exchange->sqe) != NVME_CNS_CONTROLLER)
		return refuse(exchange, NVME_INVALID_FIELD);
	if (exchange->length < page_bytes)
		return refuse(exchange, status_sgl_length);
	Bytes page(page_bytes);
	edit_controller(page);
	auto id = read_record<nvme_identify_controller>(page);
	std::memset(id.sn, ' ', sizeof(id.sn) + sizeof(id.mn) + sizeof(id.fr));
	std::memcpy(id.mn, "Hartzone discovery", 18);
	id.cntrltype = controller_discovery;
	id.ver = NVME_VERSION_2_0;
	id.nn = id.mnan = 0;
	id.oaes = notice_discovery;
	id.lpa = NVME_LPA_EXTENDED;
	std::memset(id.subnqn, 0, sizeof(id.subnqn));
	std::strncpy(id.subnqn, discovery_name, sizeof(id.subnqn) - 1);
	write_record(std::span(page), id);
	reply(exchange, {}, page);
}

void HostController::reply_log(const ExchangePtr &exchange, const Bytes &log)
{
	const uint64_t offset = log_offset(exchange->sqe), bytes = log_bytes(exchange->sqe);
	if (offset > log.size() || offset % 4 || bytes > most_transfer)
		return refuse(exchange, NVME_INVALID_FIELD);
	if (exchange->length < bytes)
		return refuse(exchange, status_sgl_length);
	Bytes part(bytes);
	std::copy_n(log.begin() + static_cast<ptrdiff_t>(offset), std::min<uint64_t>(bytes, log.size() - offset), part.begin());
	reply(exchange, {}, part);
}

void HostController::get_log(const ExchangePtr &exchange)
{
	const uint32_t id = exchange->sqe.cdw10 & 0xff;
	if (discovery_)
		return id == log_discovery ? reply_log(exchange, subsystem_.lock()->discovery_log())
					   : refuse(exchange, NVME_LOG_PAGE_INVALID);
	if (id == NVME_LOG_CHANGED_NAMESPACES) {
		Bytes log(sizeof(nvme_changed_namespaces_log));
		size_t at = 0;
		for (const uint32_t nsid : changed_)
			write_record(std::span(log), nsid, at), at += sizeof(nsid);
		changed_.clear();
		changed_unread_ = false;
		return reply_log(exchange, log);
	}
	if (log_bytes(exchange->sqe) > most_transfer)
		return refuse(exchange, NVME_INVALID_FIELD);
	pass(exchange, log_bytes(exchange->sqe), [id](HostController &self, const Exchange &asked, Answer &, Bytes &log) {
		const auto subsystem = self.subsystem_.lock();
		const Export *one = subsystem ? subsystem->exports().find(asked.sqe.nsid) : nullptr;
		if (id != NVME_LOG_CHANGED_ZONES || !one || !one->split)
			return;
		for (size_t at = offsetof(nvme_changed_zones_log, start); at + sizeof(uint64_t) <= log.size(); at += sizeof(uint64_t))
			if (const auto start = read_record<uint64_t>(log, at))
				write_record(std::span(log), one->host_block(start), at);
	});
}

void HostController::set_features(const ExchangePtr &exchange)
{
	const uint32_t id = exchange->sqe.cdw10 & 0xff, value = exchange->sqe.cdw11;
	const uint32_t most = subsystem_.lock()->options().queues - 1u;
	const bool ours = id == NVME_FEAT_NUMBER_OF_QUEUES || id == NVME_FEAT_ASYNC_EVENT || id == feature_keep_alive;
	if (ours && exchange->sqe.cdw10 & NVME_FEAT_SAVE)
		return refuse(exchange, NVME_FEATURE_NOT_SAVEABLE);
	switch (id) {
	case NVME_FEAT_NUMBER_OF_QUEUES:
		if (discovery_)
			break;
		if (queues_.size() > 1)
			return refuse(exchange, NVME_COMMAND_SEQUENCE);
		if ((value & 0xffff) == 0xffff || value >> 16 == 0xffff)
			return refuse(exchange, NVME_INVALID_FIELD);
		return reply(exchange, {0, false, most | most << 16});
	case NVME_FEAT_ASYNC_EVENT: event_configuration_ = value; return reply(exchange);
	case feature_keep_alive: keep_alive_ = std::chrono::milliseconds(value); return reply(exchange);
	case feature_host_id: return refuse(exchange, NVME_COMMAND_SEQUENCE); // Connect has said it
	}
	if (discovery_)
		return refuse(exchange, NVME_INVALID_FIELD);
	pass(exchange, 0);
}

void HostController::get_features(const ExchangePtr &exchange)
{
	const uint32_t most = subsystem_.lock()->options().queues - 1u;
	switch (exchange->sqe.cdw10 & 0xff) {
	case NVME_FEAT_NUMBER_OF_QUEUES:
		if (!discovery_)
			return reply(exchange, {0, false, most | most << 16});
		break;
	case NVME_FEAT_ASYNC_EVENT: return reply(exchange, {0, false, event_configuration_});
	case feature_keep_alive: return reply(exchange, {0, false, static_cast<uint64_t>(keep_alive_.count())});
	case feature_host_id:
		return exchange->length < host_id_.size() ? refuse(exchange, status_sgl_length)
							  : reply(exchange, {}, std::as_bytes(std::span(host_id_)));
	}
	if (discovery_)
		return refuse(exchange, NVME_INVALID_FIELD);
	pass(exchange, event_types(exchange->sqe) * sizeof(nvme_fdp_event_choice));
}

void HostController::hold_event_request(const ExchangePtr &exchange)
{
	if (event_requests_.size() == event_requests)
		return refuse(exchange, NVME_ASYNC_LIMIT);
	event_requests_.push_back(exchange);
	send_events();
}

void HostController::notify(const std::set<uint32_t> &nsids)
{
	changed_.insert(nsids.begin(), nsids.end());
	changed_unread_ |= !nsids.empty() && !discovery_ && event_configuration_ & NVME_NOTICE_NAMESPACES;
	send_events();
}

// One notice until its log is read.
void HostController::send_events()
{
	if (!changed_unread_ || event_requests_.empty())
		return;
	changed_unread_ = false;
	const ExchangePtr request = event_requests_.front();
	event_requests_.pop_front();
	reply(request, {0, false, NVME_AEN_NOTICE | NVME_AEN_NOTICE_NAMESPACES << 8 | NVME_LOG_CHANGED_NAMESPACES << 16});
}

// A command that the device has started is not aborted.
void HostController::abort(const ExchangePtr &exchange)
{
	constexpr uint64_t not_aborted = 1;
	const auto qid = static_cast<uint16_t>(exchange->sqe.cdw10), cid = static_cast<uint16_t>(exchange->sqe.cdw10 >> 16);
	const auto queue = queues_.find(qid);
	const auto connection = queue == queues_.end() ? nullptr : queue->second.connection.lock();
	const ExchangePtr victim = connection ? connection->find(cid) : nullptr;
	if (const auto waits = std::find(event_requests_.begin(), event_requests_.end(), victim);
	    victim && waits != event_requests_.end()) {
		event_requests_.erase(waits);
		reply(victim, {NVME_ABORT_REQUESTED, false, 0});
		return reply(exchange);
	}
	const auto work = under_way_.find(victim.get());
	const JobPtr job = victim && work != under_way_.end() && work->second->jobs.size() == 1 ? work->second->jobs.front().lock()
												: nullptr;
	if (!job || !subsystem_.lock()->backend().withdraw(work->second->lane, job))
		return reply(exchange, {0, false, not_aborted});
	under_way_.erase(work);
	reply(victim, {NVME_ABORT_REQUESTED, false, 0});
	reply(exchange);
}

} // namespace hz::fabrics
