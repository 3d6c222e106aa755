// The headers of others that most of our sources include. They are compiled once, not once an
// object (precompiled.cmake). Each source still includes what it uses, for builds without this:
// debug and sanitizers.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
#ifdef TRAINYARD_PRECOMPILED_CLI
#include <CLI/CLI.hpp>
#endif
#ifdef TRAINYARD_PRECOMPILED_TESTS
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#endif
