// What a rank of our trainer says that it does (common/rank_note.h).
#pragma once
#include <string>

namespace trainyard {

/// Such as "waits for images of step 121"; empty where the process shows no note, as other
/// programs, or has nothing to say.
std::string trainer_note(int pid);

}  // namespace trainyard
