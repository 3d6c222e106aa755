// RPC: hello, host.sample, disk.free.
#include <gnu/libc-version.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/disk.h"
#include "agent/paths.h"
#include "agent/rpc.h"
#include "agent/version.h"
#include "common/process.h"

namespace trainyard {

namespace {

std::string user_name() {
  const passwd* user = ::getpwuid(::geteuid());
  return user != nullptr ? user->pw_name : std::to_string(::geteuid());
}

Answer hello(const Fields&, ServeContext&) {
  utsname system{};
  ::uname(&system);
  return Json{{"version", kAgentVersion},
              {"host", host_name()},
              {"user", user_name()},
              {"home", home_folder()},
              {"pid", ::getpid()},
              {"bootId", boot_id()},
              {"cores", ::sysconf(_SC_NPROCESSORS_ONLN)},
              {"memoryTotal", host_memory().total},
              {"glibc", ::gnu_get_libc_version()},
              {"kernel", system.release}};
}

Answer host_sample(const Fields&, ServeContext& context) { return context.sampler.sample(); }

Answer disk_free(const Fields& params, ServeContext&) {
  const DiskSpace space = disk_space(expand_path(params.string("path")));
  return Json{{"free", space.free}, {"total", space.total}, {"inodesFree", space.inodes_free}};
}

}  // namespace

void add_host_methods(MethodTable& table) {
  table["hello"] = hello;
  table["host.sample"] = host_sample;
  table["disk.free"] = disk_free;
}

}  // namespace trainyard
