// The scripted device.
// SPDX-License-Identifier: BSD-3-Clause
#include "scripted_ftl.hpp"

#include <cstring>

// Lives in ftl_request::work while the request is at its worker.
struct Service {
	lt_timer timer;
	ScriptedFtl *owner;
	ftl_request *req;
	uint64_t delay_ns;
	unsigned worker;
	bool under_way;
};
static_assert(sizeof(Service) <= sizeof(ftl_request::work));

namespace {

void reply(lt_event *event)
{
	auto *req = reinterpret_cast<ftl_request *>(event);
	req->done(req);
}
static_assert(offsetof(ftl_request, event) == 0);

Service *service_of(lt_event *event) { return reinterpret_cast<Service *>(reinterpret_cast<ftl_request *>(event)->work); }

void on_time(lt_timer *timer)
{
	auto *service = reinterpret_cast<Service *>(timer);
	ftl_request *req = service->req;
	if (!std::erase(service->owner->serving, service))
		return; // cancelled: the event is on its way
	if (req->ready_ns)
		req->ready_ns += clock_now_ns();
	lt_post(req->reply_to, &req->event, reply);
}

void cancelled(lt_event *event)
{
	Service *service = service_of(event);
	if (service->timer.slot)
		lt_timer_cancel(&service->timer);
	service->req->status = NVME_ABORT_REQUESTED;
	service->req->ready_ns = 0;
	lt_post(service->req->reply_to, event, reply);
}

bool is_over(const Service *service) { return service->req->life && service->req->life <= service->owner->over && !service->under_way; }

void cancel(ScriptedFtl *f)
{
	f->over = f->last->lba;
	std::erase_if(f->serving, [f](Service *service) {
		if (is_over(service))
			lt_post(&f->workers[service->worker], &service->req->event, cancelled);
		return is_over(service);
	});
}

void on_worker(lt_event *event)
{
	Service *service = service_of(event);
	if (is_over(service)) {
		cancelled(event);
		return;
	}
	service->owner->serving.push_back(service);
	lt_timer_arm(&service->timer, clock_now_ns() + service->delay_ns, on_time);
}

void watch_run(lt_event *event)
{
	auto *watch = reinterpret_cast<ftl_watch *>(event);
	lt_swap(&watch->posted, 0);
	watch->changed(watch);
}
static_assert(offsetof(ftl_watch, event) == 0);

} // namespace

void change_zone(ScriptedFtl &f, uint64_t start, uint32_t number)
{
	f.changed[number].insert(start);
	tell_watch(f);
}

void tell_watch(ScriptedFtl &f)
{
	if (lt_cas(&f.watch->posted, 0, 1))
		lt_post(f.watch->thread, &f.watch->event, watch_run);
}

static ScriptedFtl *scripted(void *ctx) { return static_cast<ScriptedFtl *>(ctx); }

static void submit(void *ctx, unsigned worker, ftl_request *req, uint32_t number)
{
	ScriptedFtl *f = scripted(ctx);
	f->log.push_back({clock_now_ns(), worker, req->op, req->flags, req->sectors, req->lba, number});
	f->last = req;
	Answer answer = f->script(*req);
	req->status = answer.status;
	req->result = answer.result;
	req->ready_ns = answer.ready_ns;
	std::memset(req->work, 0, sizeof(req->work));
	auto *service = reinterpret_cast<Service *>(req->work);
	*service = {{}, f, req, answer.service_ns, worker, answer.under_way};
	if (req->op == FTL_CANCEL)
		cancel(f);
	clock_charge_ns(f->hil_cost_ns);
	f->on_submit();
	lt_post(&f->workers[worker], &req->event, on_worker);
}

static uint32_t changed_zones(void *ctx, uint32_t number, uint64_t *start, uint32_t most, bool take)
{
	auto &changed = scripted(ctx)->changed[number];
	uint32_t found = 0;
	for (uint64_t lba : changed)
		if (found++ < most)
			start[found - 1] = lba;
	if (take)
		changed.clear();
	return found;
}

static void flash_published(void *, hz_log_flash *out, hz_log_energy *energy)
{
	*out = {};
	out->version = 1;
	out->channels = 2;
	out->dies = 4;
	out->reads[HZ_CAUSE_HOST] = 77;
	out->program_sectors[HZ_CAUSE_HOST] = 100;
	out->program_sectors[HZ_CAUSE_GC] = 20;
	if (!energy)
		return;
	*energy = {};
	energy->version = 1;
	energy->erase_ns[HZ_CELLS_NORMAL] = 5;
	energy->channel_sectors = 78;
	energy->erases[HZ_CELLS_SLC] = 3;
	energy->erases[HZ_CELLS_NORMAL] = 2;
}

controller_ops scripted_ops(ScriptedFtl &f)
{
	controller_ops ops{};
	ops.ctx = &f;
	ops.submit = submit;
	ops.set_watch = [](void *ctx, ftl_watch *watch) { scripted(ctx)->watch = watch; };
	ops.changed_zones = changed_zones;
	ops.damage_found = [](void *ctx, uint32_t number, ftl_damage *out) { *out = number ? ftl_damage{} : scripted(ctx)->damage; };
	ops.health = [](void *ctx, ftl_health *out) { *out = scripted(ctx)->health; };
	ops.namespace_record = [](void *ctx, uint32_t number) { return scripted(ctx)->records[number]; };
	ops.keep_namespace = [](void *ctx, uint32_t number, namespace_record record) { scripted(ctx)->records[number] = record; };
	ops.controller_record = [](void *ctx, hz_nand_controller *out) { *out = scripted(ctx)->controller; };
	ops.keep_controller = [](void *ctx, const hz_nand_controller *record) { scripted(ctx)->controller = *record; };
	ops.power_history = [](void *ctx, power_history *out) { *out = scripted(ctx)->history; };
	ops.shut_down = [](void *ctx, bool done) { scripted(ctx)->shut_down = done; };
	ops.publish = [](void *) {};
	ops.flash_published = flash_published;
	ops.in_place = [](void *ctx) { return scripted(ctx)->in_place; };
	ops.ftl_published = [](void *ctx, uint32_t number, hz_log_ftl *out) { *out = scripted(ctx)->reports[number]; };
	ops.note_placement_events = [](void *ctx, uint32_t, uint32_t handle, uint32_t types) { scripted(ctx)->noted[handle] = types; };
	ops.placement_events_noted = [](void *ctx, uint32_t, uint32_t handle) { return scripted(ctx)->noted[handle]; };
	ops.placement_events = [](void *ctx, uint32_t, bool of_host, ftl_placement_event *out) {
		const auto &events = scripted(ctx)->placement_events[of_host];
		std::copy(events.begin(), events.end(), out);
		return static_cast<uint32_t>(events.size());
	};
	ops.forget_placement_events = [](void *ctx, uint32_t) {
		scripted(ctx)->noted.clear();
		for (auto &events : scripted(ctx)->placement_events)
			events.clear();
	};
	return ops;
}
