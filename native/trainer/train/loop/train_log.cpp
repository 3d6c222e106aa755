#include "trainer/train/loop/train_log.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace trainyard {
namespace {

nlohmann::json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text);
}

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// Milliseconds with three digits after the point: a line of each rank is to stay short.
double to_microseconds(double milliseconds) { return std::round(milliseconds * 1000) / 1000; }

/// NCCL's algorithm is its own choice where none is asked for.
std::string all_reduce(const TrainOptions& options, const Team& team, bool device_sums) {
  if (!device_sums) return team.all_reduce();
  return options.strategy.all_reduce == "auto" ? "library" : options.strategy.all_reduce;
}

/// In MiB; null where nothing is sent off in buckets.
nlohmann::json bucket_size(const TrainOptions& options, const TrainPlan& plan, const Team& team) {
  const bool in_buckets = plan.world > 1 && !has_servers(team.strategy());
  return in_buckets ? nlohmann::json(options.strategy.bucket_mib) : nlohmann::json(nullptr);
}

}  // namespace

void say_memory(const std::optional<MemoryFigures>& memory, size_t to_come) {
  if (!memory) return;
  const auto mebibytes = [](uint64_t bytes) { return static_cast<unsigned long long>(bytes >> 20U); };
  std::fprintf(stderr, "trainer: note: %llu MiB of GPU memory are taken, %llu more come with the first step; ",
               mebibytes(memory->used), mebibytes(to_come));
  std::fprintf(stderr, "%llu of %llu MiB are free\n", mebibytes(memory->free), mebibytes(memory->total));
}

void say_recipe_changes(const TrainPlan& plan) {
  if (plan.recipe_changes.empty()) return;
  std::string changes;
  for (const std::string& change : plan.recipe_changes) changes += (changes.empty() ? "" : "; ") + change;
  std::fprintf(stderr, "trainer: warning: %s was made with another recipe, and training goes on with this one: %s\n",
               plan.resume_from->c_str(), changes.c_str());
}

void say_made_new(const std::string& path, int classes, const std::vector<std::string>& made_new) {
  if (made_new.empty()) return;
  std::string names;
  for (const std::string& name : made_new) names += (names.empty() ? "" : ", ") + name;
  std::fprintf(stderr, "trainer: note: %s has another number of classes than the %d here: %s start anew\n",
               path.c_str(), classes, names.c_str());
}

TrainLog::TrainLog(const TrainOptions& options, const TrainPlan& plan, const Team& team)
    : options_(options), plan_(plan), team_(team), log_(options.run_dir, "train"), servers_(team.hosts()) {}

void TrainLog::start(Network& network, const TrainStart& start) {
  const char* comm = start.device_sums ? "nccl" : "mpi";
  const auto resumed = plan_.resume_from ? nlohmann::json(name_of(*plan_.resume_from)) : nlohmann::json(nullptr);
  log_.line("start", {{"model", options_.model},
                      {"parameters", network.weights().size()},
                      {"classes", plan_.classes},
                      {"class_names", plan_.class_names},
                      {"train_images", plan_.images},
                      {"world", plan_.world},
                      {"batch_size", plan_.batch},
                      {"accumulate", plan_.accumulate},
                      {"global_batch", plan_.global_batch},
                      {"optimizer", options_.optimizer.kind},
                      {"strategy", team_.strategy()},
                      {"servers", team_.servers().size()},
                      {"all_reduce", text_or_null(all_reduce(options_, team_, start.device_sums))},
                      {"bucket_size", bucket_size(options_, plan_, team_)},
                      {"comm", plan_.world == 1 ? nlohmann::json(nullptr) : nlohmann::json(comm)},
                      {"made_new", start.made_new},
                      {"steps_per_epoch", plan_.steps_per_epoch},
                      {"total_steps", plan_.total_steps},
                      {"resumed_from", resumed},
                      {"recipe_changes", plan_.recipe_changes},
                      {"precision", options_.precision},
                      {"device", options_.device},
                      {"jpeg_decoder", options_.jpeg_decoder}});
  for (const CheckpointInfo& one : start.passed_over) {
    log_.line("checkpoint_passed_over",
              {{"step", one.step}, {"path", "checkpoints/" + name_of(one.path)}, {"reason", one.reason}});
  }
  log_.graph(network);
  log_.flush();
}

void TrainLog::interval(int64_t step, const Interval& interval, const Report& report, const LossScaler* scaler) {
  nlohmann::json fields = interval.fields(step, plan_.steps_per_epoch, plan_.global_batch, plan_.world);
  const double images =
      report.pushed ? report.pushed->images : static_cast<double>(interval.steps * plan_.global_batch);
  if (report.pushed) add_pushed(*report.pushed, interval.seconds(), fields);
  servers_.add(report.servers, fields);
  if (scaler != nullptr) {
    fields["loss_scale"] = scaler->scale();
    fields["skipped_steps"] = scaler->skipped();
  }
  log_.line("step", fields);
  for (const char* tag : {"loss", "top1", "lr", "images_per_sec", "step_ms", "comm_ms", "input_wait_ms",
                          "gradient_norm", "staleness", "server_busy", "loss_scale"}) {
    if (fields.contains(tag)) log_.scalar(tag, step, fields.at(tag).get<double>());
  }
  for (size_t rank = 0; rank < report.ranks.size(); ++rank) host(step, rank, report.ranks[rank]);
  images_ += images;
  seconds_ += interval.seconds();
  log_.flush();
}

void TrainLog::host(int64_t step, size_t rank, const RankFigures& figures) {
  nlohmann::json line = {{"step", step},
                         {"rank", rank},
                         {"host", team_.hosts()[rank]},
                         {"device", options_.device},
                         {"memory_used", static_cast<uint64_t>(figures.memory_used)},
                         {"memory_peak", static_cast<uint64_t>(figures.memory_peak)},
                         {"bad_images", static_cast<uint64_t>(figures.bad_images)}};
  if (figures.gpu_peak > 0) {
    line["gpu_memory_used"] = static_cast<uint64_t>(figures.gpu_used);
    line["gpu_memory_peak"] = static_cast<uint64_t>(figures.gpu_peak);
    line["gpu_memory_free"] = static_cast<uint64_t>(figures.gpu_free);
  }
  if (figures.steps > 0) {  // a server makes none
    line["compute_ms"] = to_microseconds(figures.compute_ms);
    line["comm_ms"] = to_microseconds(figures.comm_ms);
    line["input_wait_ms"] = to_microseconds(figures.input_wait_ms);
  }
  log_.line("host", line);
}

void TrainLog::checkpoint(int64_t step, const CheckpointInfo& saved, double write_ms, double held_ms) {
  log_.line("checkpoint", {{"step", step},
                           {"path", "checkpoints/" + name_of(saved.path)},
                           {"bytes", saved.bytes},
                           {"write_ms", write_ms},
                           {"held_ms", held_ms}});
}

void TrainLog::checkpoint_failed(int64_t step, const std::string& message) {
  log_.line("checkpoint_failed", {{"step", step}, {"message", message}});
}

void TrainLog::bad_image(int64_t step, const std::string& path, const std::string& message, int64_t count) {
  log_.line("bad_image", {{"step", step}, {"path", path}, {"message", message}, {"count", count}});
}

void TrainLog::end(int64_t step, double seconds, bool stopped) {
  nlohmann::json end = {{"step", step},
                        {"seconds", seconds},
                        {"images_per_sec", seconds_ > 0 ? images_ / seconds_ : 0.0},
                        {"reason", stopped ? "stopped" : "finished"},
                        {"early_stop", !stopped && step < plan_.total_steps}};
  servers_.add_totals(end);
  log_.line("end", end);
}

void TrainLog::finish(const std::function<void()>& alive) { log_.finish(kLastLinesSeconds, alive); }

}  // namespace trainyard
