// The parts of the proof. DEVICE is cuda, or cpu for a rehearsal with the reference in the device's
// place. Each returns whether everything in it held.
#pragma once
#include <string>
#include <vector>

namespace trainyard::proof {

bool devices(const std::string& device);
bool ops(const std::string& device);
/// NCCL, in a group of one: two ranks of it cannot share a GPU.
bool collectives(const std::string& device);
/// JPEGs decoded, cropped and resized on the device, beside the host's decoder.
bool jpeg_decoder(const std::string& device);
/// Whole networks beside the reference.
bool networks(const std::string& device);
/// One step of resnet20 in each precision beside fp32.
bool precisions(const std::string& device);
/// The optimizers on the device: what a rank that trains alone does.
bool optimizers(const std::string& device);
/// Moving averages of weights and statistics, on the device.
bool averages(const std::string& device);
/// The same steps twice, and on images that are brought once: the same bits.
bool repeats(const std::string& device);
/// Steps that are recorded, and whose images are brought ahead, beside op by op: the same bits. Of
/// mixtures too, with another share in each step.
bool recorded(const std::string& device);
/// Three steps, and three more of another network that got what a checkpoint holds: the bits of
/// six.
bool resume(const std::string& device);
/// Three steps, an evaluation with other statistics (as --eval-on ranks makes it), and three more:
/// the bits of six, and the reference's logits. The same with a second network for images of
/// another size (--eval-image-size), and with a step that is broken off and whose statistics are
/// taken back.
bool evaluation(const std::string& device);
/// Two processes on one device beside one with both their images.
bool two_processes(const std::string& device);
/// The message for memory that nobody has.
bool out_of_memory(const std::string& device);
/// The plan's answer to a batch that is too large, and that the batch it names is one that fits.
bool batch_that_fits(const std::string& device);
/// Memory that is taken with the first step instead of before it: as much, and the same step.
bool memory_growth(const std::string& device);
/// Images a second in every precision, without any tuning: of the device's work alone.
bool speed(const std::string& device);

/// arguments: [BATCH [PRECISION [none|fast|full]]]. Where the device's time of one step of resnet50
/// goes, kernel by kernel.
bool kernels(const std::string& device, const std::vector<std::string>& arguments);

/// arguments: FOLDER MODEL PIXELS BATCH CLASSES STEPS. Trains with SGD on the device and leaves in
/// FOLDER what another framework needs to do the same, and what came of it.
bool steps(const std::string& device, const std::vector<std::string>& arguments);
/// arguments: MODEL PIXELS BATCH PRECISION STEPS. Prints one JSON object with the field names of
/// `trainer bench step`: images_per_sec, step_ms, first_step_at, images, recorded_graphs.
bool bench(const std::string& device, const std::vector<std::string>& arguments);

}  // namespace trainyard::proof
