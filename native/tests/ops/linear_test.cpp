// The fully connected layer and the loss.
#include <cmath>
#include <limits>

#include "common/error.h"
#include "tests/ops/reference.h"

namespace trainyard::test {
namespace {

class Linear : public ContractTest {};
TRAINYARD_FOR_EVERY_BACKEND(Linear);

struct LinearReference {
  LinearParams p;
  std::vector<double> x, w, b;

  std::vector<double> forward() const {
    std::vector<double> y(size_t(p.batch) * p.out);
    for (int n = 0; n < p.batch; ++n) {
      for (int o = 0; o < p.out; ++o) {
        double sum = b[size_t(o)];
        for (int i = 0; i < p.in; ++i) sum += x[size_t(n) * p.in + i] * w[size_t(o) * p.in + i];
        y[size_t(n) * p.out + o] = p.relu ? std::max(sum, 0.0) : sum;
      }
    }
    return y;
  }
};

TEST_P(Linear, IsWhatItsDefinitionSays) {
  for (const LinearParams& params :
       {LinearParams{4, 64, 10, false}, {7, 33, 5, true}, {1, 300, 17, false}, {16, 48, 128, true}}) {
    const std::string name =
        std::to_string(params.batch) + "x" + std::to_string(params.in) + " to " + std::to_string(params.out);
    LinearReference reference{params, random_numbers(size_t(params.batch) * params.in, 41),
                              random_numbers(size_t(params.out) * params.in, 42),
                              random_numbers(size_t(params.out), 43)};
    const std::vector<double> dy = random_numbers(size_t(params.batch) * params.out, 44);
    const auto op = bench_.backend().make_linear(params);
    float* x = bench_.floats(reference.x);
    float* w = bench_.floats(reference.w);
    float* y = bench_.floats(std::vector<double>(dy.size(), NAN));
    op->forward(x, w, bench_.floats(reference.b), y);
    // sqrt(k) roundings of a sum whose terms are about one; see the convolution's test.
    const double tolerance = 4 * kRounding * std::sqrt(double(std::max(params.in, params.out)));
    const std::vector<double> want = reference.forward();
    expect_close(bench_.read(y, dy.size()), want, tolerance, name + ", y");

    std::vector<double> masked(dy);
    for (size_t i = 0; i < masked.size(); ++i) masked[i] = params.relu && want[i] <= 0 ? 0 : masked[i];
    float* gradient = bench_.floats(dy);
    op->backward_relu(y, gradient);
    EXPECT_EQ(bench_.read(gradient, dy.size()), masked) << name;
    float* dx = bench_.floats(std::vector<double>(reference.x.size(), NAN));
    float* dw = bench_.floats(std::vector<double>(reference.w.size(), NAN));
    float* db = bench_.floats(std::vector<double>(reference.b.size(), NAN));
    op->backward_data(gradient, w, dx);
    op->backward_weights(x, gradient, dw, db);
    const auto loss = [&] {
      const std::vector<double> now = reference.forward();
      double sum = 0;
      for (size_t i = 0; i < now.size(); ++i) sum += dy[i] * now[i];
      return sum;
    };
    // Piecewise linear: differences are exact but for rounding in double.
    const double differences = tolerance + 1e-7;
    const auto got_dx = bench_.read(dx, reference.x.size());
    const auto got_dw = bench_.read(dw, reference.w.size());
    const auto got_db = bench_.read(db, reference.b.size());
    expect_numeric_gradient(reference.x, got_dx, loss, differences, name + ", dx", 100);
    expect_numeric_gradient(reference.w, got_dw, loss, differences, name + ", dw", 100);
    expect_numeric_gradient(reference.b, got_db, loss, differences, name + ", db", 100);
  }
}

class Loss : public ContractTest {
 protected:
  LossResult run(const std::vector<double>& logits, const std::vector<int32_t>& labels, int classes,
                 std::vector<double>* gradient = nullptr, float scale = 1, float smoothing = 0) {
    float* z = bench_.floats(logits);
    float* dz = gradient != nullptr ? bench_.floats(std::vector<double>(logits.size(), NAN)) : nullptr;
    const auto op = bench_.backend().make_softmax_cross_entropy(classes);
    op->take_labels({labels.data(), static_cast<int>(labels.size())});
    op->run(z, dz, scale, smoothing);
    const LossResult result = op->result();
    if (gradient != nullptr) *gradient = bench_.read(dz, logits.size());
    return result;
  }

  struct Mixed {
    std::vector<int32_t> labels, others;
    float share = 1;
  };
  static LossResult run_mixed(SoftmaxCrossEntropyOp& op, const Mixed& m, float* z, float* dz, float scale,
                              float smoothing) {
    op.take_labels({m.labels.data(), static_cast<int>(m.labels.size()), m.others.data(), m.share});
    op.run(z, dz, scale, smoothing);
    return op.result();
  }
};
TRAINYARD_FOR_EVERY_BACKEND(Loss);

double plain_loss(const std::vector<double>& logits, const std::vector<int32_t>& labels, size_t classes) {
  double total = 0;
  for (size_t n = 0; n < labels.size(); ++n) {
    double sum = 0;
    for (size_t c = 0; c < classes; ++c) sum += std::exp(logits[n * classes + c]);
    total += std::log(sum) - logits[n * classes + static_cast<size_t>(labels[n])];
  }
  return total;
}

TEST_P(Loss, IsTheNegativeLogLikelihood) {
  std::vector<double> logits = random_numbers(6 * 11, 51, 0, 3);
  const std::vector<int32_t> labels{0, 10, 5, 5, 3, 7};
  std::vector<double> gradient;
  const LossResult result = run(logits, labels, 11, &gradient, 0.25F);
  EXPECT_NEAR(result.loss_sum, plain_loss(logits, labels, 11), 1e-12 * result.loss_sum);
  expect_numeric_gradient(
      logits, gradient, [&] { return 0.25 * plain_loss(logits, labels, 11); }, 1e-6, "dlogits", 100);
}

TEST_P(Loss, SmoothsLabelsAsPyTorchDoes) {
  // torch.nn.functional.cross_entropy(logits, labels, label_smoothing=0.125, reduction="sum") in
  // float64, and its gradient.
  const std::vector<double> logits{0.5, -1.25, 2, 0, 3, -0.5, 0.25, 1.5};
  std::vector<double> gradient;
  const LossResult result = run(logits, {2, 3}, 4, &gradient, 1, 0.125F);
  EXPECT_NEAR(result.loss_sum, 2.375673945778955, 1e-12);
  const std::vector<double> want{0.128443550032, -0.00349942206732, -0.190553162218, 0.0656090342528,
                                 0.72790422049,  -0.00832552892719, 0.017281105642,  -0.736859797205};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(gradient[i], want[i], 1e-7) << i;
  // The logits' own accuracy is what is counted.
  EXPECT_EQ(result.top1, 1);
}

TEST_P(Loss, OfMixturesIsThatOfPyTorchsClassProbabilities) {
  // torch.nn.functional.cross_entropy(logits, share * one_hot(labels) + (1 - share) *
  // one_hot(others), label_smoothing=0.125, reduction="sum"), by its definition in double.
  float* z = bench_.floats({0.5, -1.25, 2, 0, 3, -0.5, 0.25, 1.5, -2, 0.75});
  const auto op = bench_.backend().make_softmax_cross_entropy(5);
  // In place, as in training.
  const LossResult result = run_mixed(*op, {{2, 3}, {3, 0}, 0.6875F}, z, z, 1, 0.125F);
  EXPECT_NEAR(result.loss_sum, 5.59985062049147, 1e-12);
  EXPECT_EQ(result.top1, 0);
  const std::vector<double> want{0.0292167405152, -0.0155785431996, -0.383579926604, -0.265553384608, 0.635495113896,
                                 -0.228111683751, 0.123879754168,   0.494641401468,  -0.610870689358, 0.220461217473};
  const std::vector<double> got = bench_.read(z, 10);
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-7) << i;
}

TEST_P(Loss, OfMixturesIsSharedForAnyNumberOfClassesAndImages) {
  struct Case {
    int classes, images;
    float share, smoothing;
  };
  for (const Case& c : {Case{2, 1, 0.5F, 0},
                        {3, 5, 0.75F, 0.1F},
                        {31, 4, 1, 0},
                        {33, 7, 0.5625F, 0.2F},
                        {100, 3, 0.9F, 0.1F},
                        {1000, 9, 0.625F, 0},
                        {1003, 2, 0.51F, 0.1F}}) {
    const std::string name = std::to_string(c.images) + "x" + std::to_string(c.classes);
    const auto count = static_cast<size_t>(c.images) * static_cast<size_t>(c.classes);
    const std::vector<double> logits = random_numbers(count, 61, 0, 3);
    Mixed m{{}, {}, c.share};
    for (int n = 0; n < c.images; ++n) {
      m.labels.push_back((7 * n + 1) % c.classes);
      m.others.push_back(n % 3 == 2 ? m.labels.back() : (11 * n) % c.classes);
    }
    // A target is linear in its classes: so are loss and gradient.
    std::vector<double> of_labels, of_others;
    const LossResult first = run(logits, m.labels, c.classes, &of_labels, 0.25F, c.smoothing);
    const LossResult second = run(logits, m.others, c.classes, &of_others, 0.25F, c.smoothing);
    float* dz = bench_.floats(std::vector<double>(count, NAN));
    const auto op = bench_.backend().make_softmax_cross_entropy(c.classes);
    const LossResult mixed = run_mixed(*op, m, bench_.floats(logits), dz, 0.25F, c.smoothing);
    const double share = double{c.share};
    const double want = share * first.loss_sum + (1 - share) * second.loss_sum;
    EXPECT_NEAR(mixed.loss_sum, want, 1e-12 * want) << name;
    EXPECT_EQ(mixed.top1, first.top1) << name << ": the larger share counts";
    EXPECT_EQ(mixed.top5, first.top5) << name;
    const std::vector<double> got = bench_.read(dz, count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_NEAR(got[i], share * of_labels[i] + (1 - share) * of_others[i], 2 * kRounding) << name << " " << i;
    }
  }
}

TEST_P(Loss, OfSingleClassesBehindMixturesIsTheirOwn) {
  const std::vector<double> logits = random_numbers(6 * 11, 62, 0, 3);
  const std::vector<int32_t> labels{0, 10, 5, 5, 3, 7};
  std::vector<double> want;
  const double loss = run(logits, labels, 11, &want).loss_sum;
  float* z = bench_.floats(logits);
  float* dz = bench_.floats(std::vector<double>(logits.size(), NAN));
  const auto op = bench_.backend().make_softmax_cross_entropy(11);
  run_mixed(*op, {{1, 2}, {3, 4}, 0.5F}, z, nullptr, 1, 0);
  // More images than before, each wholly its label.
  const Mixed whole{labels, {1, 1, 1, 1, 1, 1}, 1};
  EXPECT_NEAR(run_mixed(*op, whole, z, dz, 1, 0).loss_sum, loss, 1e-12 * loss);
  EXPECT_EQ(bench_.read(dz, logits.size()), want);
  op->take_labels({labels.data(), 6});
  op->run(z, dz, 1, 0);
  EXPECT_EQ(op->result().loss_sum, loss);
  EXPECT_EQ(bench_.read(dz, logits.size()), want);
}

TEST_P(Loss, SurvivesHugeLogits) {
  std::vector<double> gradient;
  const LossResult result = run({3e38, -3e38, 0, 1000, 1000, 0}, {0, 2}, 3, &gradient);
  EXPECT_NEAR(result.loss_sum, 1000 + std::log(2.0), 1e-9);
  EXPECT_EQ(gradient, (std::vector<double>{0, 0, 0, 0.5, 0.5, -1}));
}

TEST_P(Loss, CountsTheBestAndTheBestFive) {
  // Rank of the label: 0, 4, 5; then draws, which the lower class wins.
  const std::vector<double> logits{9,      1, 2, 3, 4, 5, 6, /**/ 9, 8, 7, 6, 5, 4, 3, /**/ 9, 8, 7, 6, 5, 4, 3,
                                   /**/ 1, 1, 1, 1, 1, 1, 1, /**/ 1, 1, 1, 1, 1, 1, 1};
  const LossResult result = run(logits, {0, 4, 5, 0, 5}, 7);
  EXPECT_EQ(result.top1, 2);
  EXPECT_EQ(result.top5, 3);
  EXPECT_EQ(run({1, 2, 3}, {0}, 3).top5, 1);  // fewer than five classes
}

TEST_P(Loss, NeverCountsWhatIsNotANumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& logits : {std::vector<double>(6, nan), std::vector<double>{nan, nan, nan, nan, nan, 1}}) {
    const LossResult result = run(logits, {5}, 6);
    EXPECT_EQ(result.top1, 0);
    EXPECT_EQ(result.top5, 0);
    EXPECT_TRUE(std::isnan(result.loss_sum));
  }
}

TEST_P(Loss, RefusesALabelThatIsNoClass) {
  EXPECT_THROW(run({1, 2, 3}, {3}, 3), Error);
  EXPECT_THROW(run({1, 2, 3}, {-1}, 3), Error);
  const auto op = bench_.backend().make_softmax_cross_entropy(3);
  const std::vector<int32_t> good{2};
  for (const int32_t bad : {3, -1}) EXPECT_THROW(op->take_labels({good.data(), 1, &bad, 0.5F}), Error);
}

}  // namespace
}  // namespace trainyard::test
