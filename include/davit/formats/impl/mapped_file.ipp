// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "davit/core/shared_bytes.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"

namespace davit::formats {

namespace detail {

/// A mapping that lives as long as any share of its bytes.
struct Mapping : SharedBytes::Owner {
  Mapping(void* address_, std::size_t size_) noexcept : Owner(&Mapping::destroy), address(address_), size(size_) {}
  static void destroy(Owner* self) noexcept {
    auto* mapping = static_cast<Mapping*>(self);
    ::munmap(mapping->address, mapping->size);
    delete mapping;
  }
  void* address;
  std::size_t size;
};

/// An open file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace detail

Result<SharedBytes> map_file(const std::string& path) {
  const auto fail = [&](const Name& what) { return load_error(ErrorCode::io_error, path, what, "check the path"); };
  const auto system_error = [&] { return fail(std::generic_category().message(errno)); };

  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const detail::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return system_error();
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return system_error();
  if (S_ISDIR(status.st_mode)) return fail("it is a directory");
  if (!S_ISREG(status.st_mode)) return fail("it is not a regular file");
  if (status.st_size <= 0) return fail("the file is empty");

  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) return system_error();
  auto* mapping = new (std::nothrow) detail::Mapping(address, size);
  if (mapping == nullptr) {
    ::munmap(address, size);
    return load_error(ErrorCode::out_of_memory, path, "no memory", {});
  }
  return SharedBytes({static_cast<const std::byte*>(address), size}, mapping);
}

void forget(const SharedBytes& bytes) noexcept {
  if (bytes.owner() == nullptr || bytes.owner()->release != &detail::Mapping::destroy) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (first < last) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

namespace detail {

/// Writes all bytes. False, with errno, if the system fails.
[[nodiscard]] bool write_all(int file, std::span<const std::span<const std::byte>> parts) noexcept {
  for (std::span<const std::byte> bytes : parts)
    while (!bytes.empty()) {
      const ::ssize_t written = ::write(file, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  return true;
}

}  // namespace detail

Result<void> write_file(const std::string& path, std::span<const std::byte> bytes) {
  return write_file(path, std::span(&bytes, 1));
}

namespace detail {

/// Paths of unfinished files. Writers and a signal handler both remove a path before they use it.
[[nodiscard]] std::span<std::atomic<const char*>> unfinished_paths() noexcept {
  static constinit std::atomic<const char*> paths[64] = {};
  return paths;
}

/// Resolves links, also to a missing file. Errors: an errno, ELOOP.
[[nodiscard]] std::expected<std::filesystem::path, int> resolve_links(std::filesystem::path path) {
  std::error_code error;
  for (int i = 0; i < 40; ++i) {
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) return path;
    path = path.parent_path() / next;
  }
  return std::unexpected(ELOOP);
}

}  // namespace detail

UnfinishedFile::UnfinishedFile(std::string path) : path_(std::make_unique<std::string>(std::move(path))) {
  for (std::atomic<const char*>& place : detail::unfinished_paths()) {
    const char* free = nullptr;
    if (!place.compare_exchange_strong(free, path_->c_str())) continue;
    place_ = &place;
    return;
  }
}
UnfinishedFile::~UnfinishedFile() {
  const char* own = path_->c_str();
  // a handler that took the path may read it until the process ends
  if (place_ != nullptr && !place_->compare_exchange_strong(own, nullptr)) (void)path_.release();
}
void remove_unfinished_files() noexcept {
  static constexpr char taken[] = "";
  for (std::atomic<const char*>& place : detail::unfinished_paths())
    if (place.load() != nullptr)
      if (const char* path = place.exchange(taken); path != nullptr) ::unlink(path);
}

Result<void> write_file(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  std::string link;  // target of a dangling link
  const auto fail = [&] {
    return std::unexpected(Error{.code = ErrorCode::io_error,
                                 .stage = Stage::save,
                                 .where = Name(path),
                                 .what = concat("it cannot be written", link.empty() ? "" : ", being a link to '", link,
                                                link.empty() ? ": " : "': ", std::generic_category().message(errno)),
                                 .fix = "check the path, and the room on its disk"});
  };
  struct stat old{};
  const bool is_there = ::stat(path.c_str(), &old) == 0;
  if (is_there && S_ISDIR(old.st_mode)) return (errno = EISDIR), fail();
  if (is_there && !S_ISREG(old.st_mode)) {
    const detail::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.number() < 0 || !detail::write_all(file.number(), parts)) return fail();
    return {};
  }
  const std::expected<std::filesystem::path, int> behind =
      detail::resolve_links(path);  // the file to replace, not the link
  if (!behind) return (errno = behind.error()), fail();
  const std::string target = behind->string();
  if (!is_there && target != path) link = target;
  for (int i = 0; i < 1000; ++i) {
    const UnfinishedFile fresh(target + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".new");
    const int number = ::open(fresh.path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number < 0 && errno == EEXIST) continue;
    if (number < 0) return fail();
    bool good = true;
    {
      const detail::Descriptor file(number);
      if (is_there) good = ::fchmod(number, old.st_mode & 07777) == 0 || errno == EPERM;
      good = good && detail::write_all(number, parts) && ::fsync(number) == 0;
    }
    if (good && std::rename(fresh.path().c_str(), target.c_str()) == 0) return {};
    const int why = errno;
    ::unlink(fresh.path().c_str());
    errno = why;
    return fail();
  }
  return fail();
}

}  // namespace davit::formats
