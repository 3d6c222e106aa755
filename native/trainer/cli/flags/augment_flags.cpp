#include "trainer/cli/flags/augment_flags.h"

#include "trainer/cli/flags/numbers.h"

namespace trainyard {

void add_augment_flags(CLI::App& command, const AugmentOptions& to) {
  command
      .add_option("--augment", to.augment,
                  "standard: random crop and flip; trivial: TrivialAugment as well, as in torchvision's newer recipes; "
                  "or none. synthetic images stay as they are")
      ->check(CLI::IsMember({"standard", "trivial", "none"}))
      ->capture_default_str();
  command
      .add_option(
          "--random-erasing", to.random_erasing,
          "how likely a part of an image, 2 to 33 % of it, is erased (0: never; torchvision's newer recipes: 0.1)")
      ->transform(number(0, 1))
      ->capture_default_str();
  command
      .add_option("--mixup", to.mixing.mixup,
                  "ALPHA: each batch's images are mixed with one another, by a share from Beta(ALPHA, ALPHA) "
                  "(left out: never; torchvision's newer recipes: 0.2)")
      ->transform(number(0, kMostMixing, End::left_out));
  command
      .add_option("--cutmix", to.mixing.cutmix,
                  "ALPHA: as --mixup, but a box of one image is put into another one (left out: never; torchvision's "
                  "newer recipes: 1). With both, each batch takes one of the two, each half of the time")
      ->transform(number(0, kMostMixing, End::left_out));
}

}  // namespace trainyard
