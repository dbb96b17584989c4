// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <system_error>

#include "davit/core/shared_bytes.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"

namespace davit::formats {

namespace detail {

/// Keeps a mapping until the last share of its bytes goes.
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

DAVIT_INLINE Result<SharedBytes> map_file(const std::string& path) {
  const auto fail = [&](const Name& what) {
    return load_error(ErrorCode::io_error, path, what, "check the path");
  };
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

DAVIT_INLINE void forget(const SharedBytes& bytes) noexcept {
  if (bytes.owner() == nullptr || bytes.owner()->release != &detail::Mapping::destroy) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (first < last) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

namespace detail {

/// Writes all of the bytes; false with errno set if the system does not take them.
[[nodiscard]] DAVIT_INLINE bool write_all(int file, std::span<const std::span<const std::byte>> parts) noexcept {
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

DAVIT_INLINE Result<void> write_file(const std::string& path, std::span<const std::byte> bytes) {
  return write_file(path, std::span(&bytes, 1));
}

DAVIT_INLINE Result<void> write_file(const std::string& path, std::span<const std::span<const std::byte>> parts) {
  const auto fail = [&] {
    return std::unexpected(Error{.code = ErrorCode::io_error, .stage = Stage::save, .where = Name(path),
                                 .what = concat("it cannot be written: ", std::generic_category().message(errno)),
                                 .fix = "check the path, and the room on its disk"});
  };
  struct stat old {};
  const bool is_there = ::stat(path.c_str(), &old) == 0;
  if (is_there && S_ISDIR(old.st_mode)) return (errno = EISDIR), fail();
  if (is_there && !S_ISREG(old.st_mode)) {
    const detail::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.number() < 0 || !detail::write_all(file.number(), parts)) return fail();
    return {};
  }
  std::error_code ignored;
  const std::filesystem::path link = std::filesystem::canonical(path, ignored);  // what a link leads to is replaced, not the link
  const std::string target = is_there && !ignored ? link.string() : path;
  std::string fresh;
  int number = -1;
  for (int i = 0; number < 0 && i < 1000; ++i) {
    fresh = target + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".new";
    number = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number < 0 && errno != EEXIST) return fail();
  }
  if (number < 0) return fail();
  bool good = true;
  {
    const detail::Descriptor file(number);
    if (is_there) good = ::fchmod(number, old.st_mode & 07777) == 0 || errno == EPERM;
    good = good && detail::write_all(number, parts) && ::fsync(number) == 0;
  }
  if (good && std::rename(fresh.c_str(), target.c_str()) == 0) return {};
  const int why = errno;
  ::unlink(fresh.c_str());
  errno = why;
  return fail();
}

}  // namespace davit::formats
