// Where a network computes, and with how many bits: flags that training, evaluation, prediction and
// measuring share.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace trainyard {

/// --device and --precision, with what their names mean.
void add_device_flags(CLI::App& command, std::string& device, std::string& precision);

/// --no-cuda-graphs, of those that train.
void add_graphs_flag(CLI::App& command, bool& no_cuda_graphs);

/// --tune, of those that train.
void add_tune_flag(CLI::App& command, std::string& tune);

/// --jpeg-decoder, of those that train.
void add_jpeg_decoder_flag(CLI::App& command, std::string& decoder);

/// --loader-threads, of those that train.
void add_loader_threads_flag(CLI::App& command, int& threads);

/// What this machine lacks is said before anything starts. Throws Error(Exit::device).
void require_device(const std::string& device, const std::string& precision);

}  // namespace trainyard
