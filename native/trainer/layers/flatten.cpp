// Another name for the same memory.
#include "common/error.h"
#include "trainer/layers/alias_stage.h"
#include "trainer/layers/layers.h"

namespace trainyard {

namespace {

class FlattenLayer final : public Layer {
 public:
  FlattenLayer(const std::string& name, ValueId x, int elements) : Layer(name, {x}), elements_(elements) {}
  std::string op() const override { return "Flatten"; }
  Shape output_shape() const override { return {1, elements_, 1, 1}; }

  std::unique_ptr<Stage> compile(const Graph&, Planner& planner, Backend&, const Purpose& purpose) const override {
    const TensorDesc& in = planner.desc(inputs()[0]);
    if (in.layout != Layout::nchw) {
      throw Error(Exit::internal, name() + " follows a layer that does not store its output plainly. Report it.");
    }
    planner.set_desc(output, {{purpose.batch, elements_, 1, 1}, Layout::nchw, in.dtype});
    return std::make_unique<AliasStage>(*this);
  }

 private:
  int elements_;
};

}  // namespace

ValueId flatten(Graph& graph, const std::string& name, ValueId x) {
  const Shape in = graph.shape(x);
  return graph.add(std::make_unique<FlattenLayer>(name, x, static_cast<int>(in.elements())));
}

}  // namespace trainyard
