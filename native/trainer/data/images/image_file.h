// One image's file, read whole.
#pragma once
#include <string>

namespace trainyard {

/// The file's bytes, in as few reads as can be. Throws BadImage where there is none any more or a
/// link leads nowhere (one file is no reason to stop), and file_error where it could not be read:
/// nobody knows then whether it is an image. Where its folder is gone too, the disk is: an Error
/// for which trying again is worthwhile.
std::string read_image_file(const std::string& path);

}  // namespace trainyard
