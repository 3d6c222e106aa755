#include "trainer/cli/flags/augment_flags.h"

#include "trainer/cli/flags/numbers.h"

namespace trainyard {

void add_augment_flags(CLI::App& command, std::string& augment, double& random_erasing) {
  command
      .add_option("--augment", augment,
                  "standard: random crop and flip; trivial: TrivialAugment as well, as in torchvision's newer recipes; "
                  "or none. synthetic images stay as they are")
      ->check(CLI::IsMember({"standard", "trivial", "none"}))
      ->capture_default_str();
  command
      .add_option(
          "--random-erasing", random_erasing,
          "how likely a part of an image, 2 to 33 % of it, is erased (0: never; torchvision's newer recipes: 0.1)")
      ->transform(number(0, 1))
      ->capture_default_str();
}

}  // namespace trainyard
