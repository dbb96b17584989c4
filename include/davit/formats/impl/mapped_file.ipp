// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <new>
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

}  // namespace davit::formats
