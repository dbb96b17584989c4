// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "davit/core/shared_bytes.hpp"
#include "davit/core/target.hpp"
#include "davit/formats/load_error.hpp"
#include "davit/formats/mapped_file.hpp"

#if DAVIT_TARGET_FILES

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>

#if DAVIT_TARGET_WINDOWS
#include <io.h>
// the last of them, and without macros for names of others
#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <sys/mman.h>
#include <sys/stat.h>
#endif

#endif

namespace davit::formats {

#if DAVIT_TARGET_FILES

namespace detail {

/// A mapping that lives as long as any share of its bytes.
struct Mapping : SharedBytes::Owner {
  Mapping(void* address_, std::size_t size_) noexcept : Owner(&Mapping::destroy), address(address_), size(size_) {
    is_mapped = true;
  }
  static void destroy(Owner* self) noexcept {
    auto* mapping = static_cast<Mapping*>(self);
    unmap(mapping->address, mapping->size);
    delete mapping;
  }
  static void unmap(void* address, [[maybe_unused]] std::size_t size) noexcept {
#if DAVIT_TARGET_WINDOWS
    ::UnmapViewOfFile(address);
#else
    ::munmap(address, size);
#endif
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

/// A file's bytes in memory, or a failure: the system's number, or a text.
struct Mapped {
  void* address = nullptr;
  std::size_t size = 0;
  std::error_code error{};
  const char* fault = nullptr;
};

#if DAVIT_TARGET_WINDOWS

[[nodiscard]] Mapped map_whole(const std::string& path) {
  const auto failed = [] { return Mapped{.error = {static_cast<int>(::GetLastError()), std::system_category()}}; };
  using Handle = std::unique_ptr<void, decltype([](HANDLE handle) { ::CloseHandle(handle); })>;
  const std::filesystem::path wide = path_of(path);
  const DWORD attributes = ::GetFileAttributesW(wide.c_str());
  if (attributes == INVALID_FILE_ATTRIBUTES) return failed();
  if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return {.fault = "it is a directory"};
  const HANDLE opened = ::CreateFileW(wide.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                      OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  if (opened == INVALID_HANDLE_VALUE) return failed();
  const Handle file(opened);
  if (::GetFileType(file.get()) != FILE_TYPE_DISK) return {.fault = "it is not a regular file"};
  LARGE_INTEGER size{};
  if (::GetFileSizeEx(file.get(), &size) == 0) return failed();
  if (size.QuadPart <= 0) return {.fault = "the file is empty"};
  const Handle mapping(::CreateFileMappingW(file.get(), nullptr, PAGE_WRITECOPY, 0, 0, nullptr));
  if (mapping == nullptr) return failed();
  void* const address = ::MapViewOfFile(mapping.get(), FILE_MAP_COPY, 0, 0, 0);  // keeps the mapping
  if (address == nullptr) return failed();
  return {.address = address, .size = static_cast<std::size_t>(size.QuadPart)};
}

#else

[[nodiscard]] Mapped map_whole(const std::string& path) {
  const auto failed = [] { return Mapped{.error = {errno, std::generic_category()}}; };
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return failed();
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return failed();
  if (S_ISDIR(status.st_mode)) return {.fault = "it is a directory"};
  if (!S_ISREG(status.st_mode)) return {.fault = "it is not a regular file"};
  if (status.st_size <= 0) return {.fault = "the file is empty"};
  const auto size = static_cast<std::size_t>(status.st_size);
  if (static_cast<std::uint64_t>(status.st_size) != size) return {.fault = "it is larger than memory can be"};
  void* const address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) return failed();
  return {.address = address, .size = size};
}

#endif

}  // namespace detail

Result<SharedBytes> map_file(const std::string& path) {
  const detail::Mapped mapped = detail::map_whole(path);
  if (mapped.address == nullptr)
    return load_error(ErrorCode::io_error, path, mapped.fault != nullptr ? mapped.fault : mapped.error.message(),
                      "check the path");
  auto* mapping = new (std::nothrow) detail::Mapping(mapped.address, mapped.size);
  if (mapping == nullptr) {
    detail::Mapping::unmap(mapped.address, mapped.size);
    return load_error(ErrorCode::out_of_memory, path, "no memory", {});
  }
  return SharedBytes({static_cast<const std::byte*>(mapped.address), mapped.size}, mapping);
}

void forget([[maybe_unused]] const SharedBytes& bytes) noexcept {
#if !DAVIT_TARGET_WINDOWS  // which has nothing of the kind
  if (bytes.owner() == nullptr || bytes.owner()->release != &detail::Mapping::destroy) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto last = (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (first < last) (void)::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
#endif
}

namespace detail {

/// What writing asks of the system; a failure is in errno.
#if DAVIT_TARGET_WINDOWS
[[nodiscard]] int open_to_write(const std::filesystem::path& path, int flags) noexcept {
  return ::_wopen(path.c_str(), O_WRONLY | O_BINARY | O_NOINHERIT | flags, 0666);
}
[[nodiscard]] bool sync(int file) noexcept { return ::_commit(file) == 0; }
[[nodiscard]] bool keep_mode(int, std::filesystem::perms) noexcept { return true; }
[[nodiscard]] bool move_onto(const std::string& from, const std::string& to) noexcept {
  std::error_code error;
  std::filesystem::rename(path_of(from), path_of(to), error);
  if (error) errno = error.default_error_condition().value();
  return !error;
}
void remove_at(const char* path) noexcept {
  std::error_code error;
  std::filesystem::remove(path_of(path), error);
}
#else
[[nodiscard]] int open_to_write(const std::filesystem::path& path, int flags) noexcept {
  return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
}
[[nodiscard]] bool sync(int file) noexcept { return ::fsync(file) == 0; }
[[nodiscard]] bool keep_mode(int file, std::filesystem::perms mode) noexcept {
  return ::fchmod(file, static_cast<::mode_t>(mode)) == 0 || errno == EPERM;
}
[[nodiscard]] bool move_onto(const std::string& from, const std::string& to) noexcept {
  return std::rename(from.c_str(), to.c_str()) == 0;
}
void remove_at(const char* path) noexcept { ::unlink(path); }
#endif

/// Writes all bytes. False, with errno, if the system fails.
[[nodiscard]] bool write_all(int file, std::span<const std::span<const std::byte>> parts) noexcept {
  constexpr std::size_t at_once = std::size_t{1} << 30;
  for (std::span<const std::byte> bytes : parts)
    while (!bytes.empty()) {
      const auto written = ::write(file, bytes.data(), static_cast<unsigned>(std::min(bytes.size(), at_once)));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  return true;
}

}  // namespace detail

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
      if (const char* path = place.exchange(taken); path != nullptr) detail::remove_at(path);
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
  std::error_code error;
  const std::filesystem::file_status old = std::filesystem::status(path_of(path), error);
  const bool is_there = std::filesystem::exists(old);
  if (is_there && std::filesystem::is_directory(old)) return (errno = EISDIR), fail();
  if (is_there && !std::filesystem::is_regular_file(old)) {
    const detail::Descriptor file(detail::open_to_write(path_of(path), 0));
    if (file.number() < 0 || !detail::write_all(file.number(), parts)) return fail();
    return {};
  }
  const std::expected<std::filesystem::path, int> behind =
      detail::resolve_links(path_of(path));  // the file to replace, not the link
  if (!behind) return (errno = behind.error()), fail();
  const std::string target = behind->string();
  if (!is_there && target != path) link = target;
  for (int i = 0; i < 1000; ++i) {
    const UnfinishedFile fresh(target + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".new");
    const int number = detail::open_to_write(path_of(fresh.path()), O_CREAT | O_EXCL);
    if (number < 0 && errno == EEXIST) continue;
    if (number < 0) return fail();
    bool good = true;
    {
      const detail::Descriptor file(number);
      if (is_there) good = detail::keep_mode(number, old.permissions() & std::filesystem::perms::mask);
      good = good && detail::write_all(number, parts) && detail::sync(number);
    }
    if (good && detail::move_onto(fresh.path(), target)) return {};
    const int why = errno;
    detail::remove_at(fresh.path().c_str());
    errno = why;
    return fail();
  }
  return fail();
}

#else

Result<SharedBytes> map_file(const std::string& path) {
  return load_error(ErrorCode::io_error, path, "there are no files here", "give the bytes");
}
void forget(const SharedBytes&) noexcept {}
Result<void> write_file(const std::string& path, std::span<const std::span<const std::byte>>) {
  return std::unexpected(Error{.code = ErrorCode::io_error,
                               .stage = Stage::save,
                               .where = Name(path),
                               .what = "there are no files here",
                               .fix = "take the bytes"});
}
UnfinishedFile::UnfinishedFile(std::string path) : path_(std::make_unique<std::string>(std::move(path))) {}
UnfinishedFile::~UnfinishedFile() = default;
void remove_unfinished_files() noexcept {}

#endif

Result<void> write_file(const std::string& path, std::span<const std::byte> bytes) {
  return write_file(path, std::span(&bytes, 1));
}

}  // namespace davit::formats
