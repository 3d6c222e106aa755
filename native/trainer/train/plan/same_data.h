// Ranks read their own copies of a data set, each on its node. Copies that differ would train apart
// without a word.
#pragma once
#include <string>

#include "trainer/comm/communicator.h"
#include "trainer/data/source.h"

namespace trainyard {

/// Compares how many images there are, their labels, the last parts of their names, their bounding
/// boxes where these were read, and the names of the classes, over all workers. A collective. Throws Error(Exit::data)
/// on every rank where two differ, naming the first rank whose data are not rank 0's. spec: the data as they were
/// named.
void require_same_data(const Dataset& dataset, const std::string& spec, Communicator& workers);

}  // namespace trainyard
