// Two ranks without processes.
#pragma once
#include <algorithm>
#include <array>
#include <barrier>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "trainer/comm/communicator.h"

namespace trainyard::test {

/// Two ranks on two threads of this process, whose sums are the same on both.
class Pair {
 public:
  std::unique_ptr<Communicator> rank(int number) { return std::make_unique<Rank>(*this, number); }

 private:
  class Rank final : public Communicator {
   public:
    Rank(Pair& pair, int number) : pair_(pair), number_(number) {}
    int rank() const override { return number_; }
    int world() const override { return 2; }
    int local_rank() const override { return number_; }
    int local_world() const override { return 2; }
    void broadcast(std::span<float> values, int root) override {
      const auto all = pair_.exchange(number_, {values.begin(), values.end()});
      std::ranges::copy(all.at(static_cast<size_t>(root)), values.begin());
    }
    void sum(std::span<double> values) override { add(values); }
    void start_sum(std::span<float> values) override { add(values); }
    void start_sum(std::span<double> values) override { add(values); }
    void start_sum_at_first(std::span<float> values) override { add(values); }
    std::string choose_all_reduce(const std::string&, const std::vector<std::string>&, SumType) override {
      return "library";
    }
    std::unique_ptr<Communicator> part(int) override { throw std::logic_error("a pair has no parts"); }
    Mailbox& mailbox() override { throw std::logic_error("a pair has no mailbox"); }
    void progress() override {}
    void wait_all() override {}
    std::vector<std::string> gather(const std::string& text) override { return {text, text}; }
    std::vector<double> gather(std::span<const double> values) override {
      const auto all = pair_.exchange(number_, {values.begin(), values.end()});
      std::vector<double> joined(all[0]);
      joined.insert(joined.end(), all[1].begin(), all[1].end());
      return joined;
    }

   private:
    template <class T>
    void add(std::span<T> values) {
      const auto all = pair_.exchange(number_, {values.begin(), values.end()});
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(all[0][i] + all[1][i]);
    }
    Pair& pair_;
    int number_;
  };

  std::array<std::vector<double>, 2> exchange(int number, std::vector<double> values) {
    given_.at(static_cast<size_t>(number)) = std::move(values);
    barrier_.arrive_and_wait();
    auto all = given_;
    barrier_.arrive_and_wait();
    return all;
  }

  std::array<std::vector<double>, 2> given_;
  std::barrier<> barrier_{2};
};

}  // namespace trainyard::test
