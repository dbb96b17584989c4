// SPDX-License-Identifier: MIT
// The definitions of davit.h: libdavit-c. DAVIT_VERSION is the library's version as text; DAVIT_WITH_ONEDNN and
// DAVIT_WITH_XNNPACK add these backends.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davit/backends/portable.hpp"
#include "davit/c/detail/failure.hpp"
#include "davit/c/detail/values.hpp"
#include "davit/core/catch_bad_alloc.hpp"
#include "davit/formats/checkpoint.hpp"
#include "davit/formats/package.hpp"
#include "davit/runtime/session.hpp"
#ifdef DAVIT_WITH_ONEDNN
#include "davit/backends/onednn.hpp"
#define DAVIT_C_ONEDNN onednn,
#define DAVIT_C_ONEDNN_NAME "onednn, "
#else
#define DAVIT_C_ONEDNN
#define DAVIT_C_ONEDNN_NAME ""
#endif
#ifdef DAVIT_WITH_XNNPACK
#include "davit/backends/xnnpack.hpp"
#define DAVIT_C_XNNPACK xnnpack,
#define DAVIT_C_XNNPACK_NAME "xnnpack, "
#else
#define DAVIT_C_XNNPACK
#define DAVIT_C_XNNPACK_NAME ""
#endif

namespace davit::c_api {
namespace {

using Backends = BackendList<DAVIT_C_ONEDNN DAVIT_C_XNNPACK portable>;
constexpr const char* backend_names = DAVIT_C_ONEDNN_NAME DAVIT_C_XNNPACK_NAME "portable";

/// Text and sizes of an input or output.
struct Port {
  std::string name;
  davit_port port{};
  std::vector<std::int64_t> sizes{};
};
struct Method {
  std::string name;
  std::vector<Port> inputs{}, outputs{};
};
/// The object behind a davit_program.
struct Program {
  LoweredProgram lowered;
  std::vector<Method> methods{};
};
/// Set by davit_session_cancel, in any thread.
struct Cancel {
  std::atomic<bool> requested{false};
  [[nodiscard]] bool stop_requested() const noexcept { return requested.load(std::memory_order_relaxed); }
};
/// The object behind a davit_session.
struct Running {
  Running(std::shared_ptr<const Program> of, Session made) : program(std::move(of)), session(std::move(made)) {
    session.stop_when(cancel);
  }
  std::shared_ptr<const Program> program;
  Session session;
  std::optional<Outputs> outputs{};  ///< of the last run, if it succeeded
  std::vector<std::byte> saved{};    ///< what davit_session_state_bytes returned
  std::vector<EValue> inputs{};
  std::vector<std::int64_t> strides{};  ///< max_rank for each input
  std::atomic_flag busy{};              ///< a function works on the session
  Cancel cancel{};
};

using Programs = Handles<const Program, davit_program, HandleType::program>;
using Sessions = Handles<Running, davit_session, HandleType::session>;
using Failures = Handles<const Failure, davit_error, HandleType::error>;

/// The error of a call that has no memory for its error. It is never freed.
constexpr std::uintptr_t last_resort = 1 << 2 | static_cast<std::uintptr_t>(HandleType::error);

/// Runs `body`. Returns null, or a handle for its failure or exception.
template <class Body>
davit_error* guarded(Body&& body) noexcept {
#if defined(__cpp_exceptions)
  try {
#endif
    const Done done = detail::catch_exceptions(body, [](ErrorCode code, Name what) {
      return Done(std::unexpect, Error{.code = code, .stage = Stage::execute, .what = std::move(what)});
    });
    return done ? nullptr : Failures::table().add(std::make_shared<const Failure>(done.error()));
#if defined(__cpp_exceptions)
  } catch (...) {
    return reinterpret_cast<davit_error*>(last_resort);
  }
#endif
}

/// Returns the failure of a call with a handle that its table does not have.
[[nodiscard]] std::unexpected<Failure> wrong_handle(const char* function, std::uintptr_t handle,
                                                    std::string_view wanted) {
  Name what = concat("the ", wanted, " is no handle of this library, or was freed");
  if (handle == 0) what = concat("the ", wanted, " is NULL");
  if (Programs::table().find(reinterpret_cast<davit_program*>(handle))) what = concat(wanted, ": this is a program");
  if (Sessions::table().find(reinterpret_cast<davit_session*>(handle))) what = concat(wanted, ": this is a session");
  if (Failures::table().find(reinterpret_cast<davit_error*>(handle))) what = concat(wanted, ": this is an error");
  const Error error{.stage = Stage::execute,
                    .where = Name(std::string_view(function)),
                    .what = std::move(what),
                    .fix = concat("pass a live ", wanted)};
  return std::unexpected<Failure>(std::in_place, DAVIT_INVALID_HANDLE, to_string(error));
}

[[nodiscard]] std::unexpected<Error> null_pointer(const char* function, std::string_view argument) {
  return refuse(ErrorCode::invalid_argument, std::string_view(function), concat(argument, " is NULL"),
                "pass the address of an object");
}

/// Sets a result to 0. Returns false if its pointer is null.
template <class T>
[[nodiscard]] bool clear(T* result) noexcept {
  if (result == nullptr) return false;
  *result = T{};
  return true;
}

/// Calls body(program), with the handle and the pointer to the result checked.
template <class T, class Body>
davit_error* with_program(const davit_program* handle, T* result, const char* function, Body&& body) noexcept {
  const bool is_cleared = clear(result);
  return guarded([&]() -> Done {
    const std::shared_ptr<const Program> program = Programs::table().find(handle);
    if (!program) return wrong_handle(function, reinterpret_cast<std::uintptr_t>(handle), "davit_program");
    if (!is_cleared) return null_pointer(function, "the result");
    return body(program);
  });
}
/// Calls body(method), with the handle, the index and the pointer to the result checked.
template <class T, class Body>
davit_error* with_method(const davit_program* handle, std::size_t index, T* result, const char* function,
                         Body&& body) noexcept {
  return with_program(handle, result, function, [&](const std::shared_ptr<const Program>& program) -> Done {
    if (index < program->methods.size()) return body(program->methods[index]);
    return refuse(ErrorCode::out_of_range, std::string_view(function), concat("there is no method ", index),
                  concat("pass an index below ", program->methods.size()));
  });
}
/// Calls body(session), with the handle checked, and no other thread in the session.
template <class Body>
davit_error* with_session(const davit_session* handle, const char* function, Body&& body) noexcept {
  return guarded([&]() -> Done {
    const std::shared_ptr<Running> running = Sessions::table().find(handle);
    if (!running) return wrong_handle(function, reinterpret_cast<std::uintptr_t>(handle), "davit_session");
    if (running->busy.test_and_set(std::memory_order_acquire))
      return refuse(ErrorCode::invalid_argument, std::string_view(function), "another thread uses the session",
                    "make a session for each thread");
    struct Leave {
      std::atomic_flag& busy;
      ~Leave() { busy.clear(std::memory_order_release); }
    } leave{running->busy};
    return body(*running);
  });
}

/// Sets or clears the request to cancel. It works while another thread runs the session.
davit_error* set_cancel(const davit_session* handle, bool requested, const char* function) noexcept {
  return guarded([&]() -> Done {
    const std::shared_ptr<Running> running = Sessions::table().find(handle);
    if (!running) return wrong_handle(function, reinterpret_cast<std::uintptr_t>(handle), "davit_session");
    running->cancel.requested.store(requested, std::memory_order_relaxed);
    return {};
  });
}

/// Returns a port of the list as C sees it. Errors: out_of_range.
[[nodiscard]] Done read_port(const std::vector<Port>& ports, std::size_t index, davit_port& to, const char* function) {
  if (index >= ports.size())
    return refuse(ErrorCode::out_of_range, std::string_view(function), concat("there is no input or output ", index),
                  concat("pass an index below ", ports.size()));
  to = ports[index].port;
  to.name = ports[index].name.c_str();
  to.sizes = ports[index].sizes.data();
  return {};
}

[[nodiscard]] Port port_of(std::string_view name, const PortType& type) {
  Port port{.name = std::string(name)};
  port.port.kind = kind_of(type.tag);
  if (type.tag != EValue::Tag::tensor) return port;
  port.port.dtype = dtype_of(type.dtype);
  for (const Dim& dim : type.dims) port.sizes.push_back(dim.is_static() ? dim.value : -1);
  port.port.rank = static_cast<std::int32_t>(port.sizes.size());
  return port;
}
/// Returns the kind of a constant: its kinds are in the order of ConstantValue.
[[nodiscard]] constexpr std::int32_t kind_of_constant(const ConstantValue& value) noexcept {
  constexpr std::int32_t kinds[] = {DAVIT_NONE, DAVIT_INT, DAVIT_FLOAT, DAVIT_BOOL, DAVIT_STRING};
  return kinds[value.index()];
}

[[nodiscard]] Method describe(const LoweredMethod& method) {
  Method described{.name = std::string(method.name.view())};
  for (const InputPort& input : method.interface.inputs) {
    if (input.role != InputRole::user) continue;
    Port& port = described.inputs.emplace_back(port_of(input.name.view(), input.type));
    if (!input.constant) continue;
    port.port.is_fixed = 1;
    port.port.kind = kind_of_constant(*input.constant);
  }
  for (const OutputPort& output : method.interface.outputs)
    if (output.is_returned()) described.outputs.push_back(port_of(output.user_name().view(), output.type));
  return described;
}

/// Makes a handle for a loaded package.
[[nodiscard]] Done add_program(Result<LoweredProgram> loaded, davit_program** handle) {
  if (!loaded) return std::unexpected<Failure>(loaded.error());
  auto program = std::make_shared<Program>(Program{.lowered = *std::move(loaded)});
  for (const LoweredMethod& method : program->lowered.methods()) program->methods.push_back(describe(method));
  *handle = Programs::table().add(std::move(program));
  return {};
}

[[nodiscard]] Done done(const Result<void>& result) {
  if (!result) return std::unexpected<Failure>(result.error());
  return {};
}

/// Copies bytes of a caller. Errors: out_of_memory.
[[nodiscard]] Expected<SharedBytes> copy_bytes(const void* data, std::size_t size, const char* function) {
  if (data == nullptr) return null_pointer(function, "data");
  SharedBytes bytes = SharedBytes::copy_of({static_cast<const std::byte*>(data), size});
  if (bytes.empty() && size != 0)
    return refuse(ErrorCode::out_of_memory, std::string_view(function), "there is no memory for the bytes",
                  "load from a file, which is mapped");
  return bytes;
}

[[nodiscard]] Done run(Running& running, std::size_t method, std::span<const davit_value> values,
                       const char* function) {
  running.outputs.reset();
  const std::vector<Method>& methods = running.program->methods;
  if (method >= methods.size())
    return refuse(ErrorCode::out_of_range, std::string_view(function), concat("there is no method ", method),
                  concat("pass an index below ", methods.size()));
  const std::size_t most = methods[method].inputs.size();
  if (values.size() > most)
    return refuse(ErrorCode::invalid_argument, std::string_view(function),
                  concat(values.size(), " inputs were passed, and '", methods[method].name, "' takes ", most),
                  "pass no more");
  running.inputs.clear();
  running.strides.resize(values.size() * max_rank);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Expected<EValue> value = read_value(values[i], std::span(running.strides).subspan(i * max_rank, max_rank),
                                        concat(function, ": input ", i, " '", methods[method].inputs[i].name, "'"));
    if (!value) return std::unexpected(std::move(value).error());
    running.inputs.push_back(*value);
  }
  Result<Outputs> outputs = running.session.run(method, running.inputs);
  if (!outputs) return std::unexpected<Failure>(outputs.error());
  running.outputs = *outputs;
  return {};
}

[[nodiscard]] Done check_has_run(const Running& running, const char* function) {
  if (running.outputs) return {};
  return refuse(ErrorCode::invalid_argument, std::string_view(function), "the session has no outputs",
                "call davit_session_run, and look at its error");
}

}  // namespace
}  // namespace davit::c_api

using namespace davit::c_api;

const char* davit_version(void) { return DAVIT_VERSION; }
const char* davit_backends(void) { return backend_names; }
void davit_set_threads(uint32_t threads) {
  Backends::for_each([&]<class B, std::size_t>() { B::set_threads(threads == 0 ? 1 : threads); });
}

int32_t davit_error_code(const davit_error* error) {
  if (error == nullptr) return DAVIT_OK;
  if (reinterpret_cast<std::uintptr_t>(error) == last_resort) return DAVIT_OUT_OF_MEMORY;
  const auto failure = Failures::table().find(error);
  return failure ? failure->code : DAVIT_INVALID_HANDLE;
}
const char* davit_error_text(const davit_error* error) {
  if (error == nullptr) return "";
  if (reinterpret_cast<std::uintptr_t>(error) == last_resort) return "execute: there is no memory left";
  const auto failure = Failures::table().find(error);
  return failure ? failure->text.c_str() : "execute: this is no davit_error, or it was freed";
}
void davit_error_free(davit_error* error) { Failures::table().remove(error); }

davit_error* davit_program_load(const char* path, davit_program** program) {
  const bool is_cleared = clear(program);
  return guarded([&]() -> Done {
    if (!is_cleared) return null_pointer("davit_program_load", "program");
    if (path == nullptr) return null_pointer("davit_program_load", "path");
    return add_program(davit::formats::load_program<Backends>(std::string(path)), program);
  });
}
davit_error* davit_program_load_bytes(const void* data, size_t size, davit_program** program) {
  const bool is_cleared = clear(program);
  return guarded([&]() -> Done {
    if (!is_cleared) return null_pointer("davit_program_load_bytes", "program");
    Expected<davit::SharedBytes> bytes = copy_bytes(data, size, "davit_program_load_bytes");
    if (!bytes) return std::unexpected(std::move(bytes).error());
    return add_program(davit::formats::load_program<Backends>(*bytes), program);
  });
}
void davit_program_free(davit_program* program) { Programs::table().remove(program); }

davit_error* davit_program_method_count(const davit_program* program, size_t* count) {
  return with_program(program, count, __func__, [&](const auto& found) -> Done {
    *count = found->methods.size();
    return {};
  });
}
davit_error* davit_program_method_name(const davit_program* program, size_t method, const char** name) {
  return with_method(program, method, name, __func__, [&](const Method& found) -> Done {
    *name = found.name.c_str();
    return {};
  });
}
davit_error* davit_program_find_method(const davit_program* program, const char* name, size_t* method) {
  return with_program(program, method, __func__, [&](const auto& found) -> Done {
    if (name == nullptr) return null_pointer("davit_program_find_method", "name");
    const davit::Result<std::size_t> index = found->lowered.find_method(name);
    if (!index) return std::unexpected<Failure>(index.error());
    *method = *index;
    return {};
  });
}
davit_error* davit_program_input_count(const davit_program* program, size_t method, size_t* count) {
  return with_method(program, method, count, __func__, [&](const Method& found) -> Done {
    *count = found.inputs.size();
    return {};
  });
}
davit_error* davit_program_input(const davit_program* program, size_t method, size_t index, davit_port* input) {
  return with_method(program, method, input, __func__, [&](const Method& found) {
    return read_port(found.inputs, index, *input, "davit_program_input");
  });
}
davit_error* davit_program_output_count(const davit_program* program, size_t method, size_t* count) {
  return with_method(program, method, count, __func__, [&](const Method& found) -> Done {
    *count = found.outputs.size();
    return {};
  });
}
davit_error* davit_program_output(const davit_program* program, size_t method, size_t index, davit_port* output) {
  return with_method(program, method, output, __func__, [&](const Method& found) {
    return read_port(found.outputs, index, *output, "davit_program_output");
  });
}

davit_error* davit_session_make(const davit_program* program, davit_session** session) {
  return with_program(program, session, __func__, [&](const auto& found) -> Done {
    davit::Result<davit::Session> made = davit::Session::make(found->lowered);
    if (!made) return std::unexpected<Failure>(made.error());
    *session = Sessions::table().add(std::make_shared<Running>(found, *std::move(made)));
    return {};
  });
}
void davit_session_free(davit_session* session) { Sessions::table().remove(session); }

davit_error* davit_session_run(davit_session* session, size_t method, const davit_value* inputs, size_t input_count) {
  return with_session(session, __func__, [&](Running& running) -> Done {
    if (inputs == nullptr && input_count != 0) return null_pointer("davit_session_run", "inputs");
    return run(running, method, {inputs, input_count}, "davit_session_run");
  });
}
davit_error* davit_session_output_count(const davit_session* session, size_t* count) {
  const bool is_cleared = clear(count);
  return with_session(session, __func__, [&](const Running& running) -> Done {
    if (!is_cleared) return null_pointer("davit_session_output_count", "count");
    if (Done has_run = check_has_run(running, "davit_session_output_count"); !has_run) return has_run;
    *count = running.outputs->size();
    return {};
  });
}
davit_error* davit_session_output(const davit_session* session, size_t index, davit_value* output) {
  const bool is_cleared = clear(output);
  return with_session(session, __func__, [&](const Running& running) -> Done {
    if (!is_cleared) return null_pointer("davit_session_output", "output");
    if (Done has_run = check_has_run(running, "davit_session_output"); !has_run) return has_run;
    if (index >= running.outputs->size())
      return refuse(davit::ErrorCode::out_of_range, "davit_session_output", davit::concat("there is no output ", index),
                    davit::concat("pass an index below ", running.outputs->size()));
    Expected<davit_value> value = write_value((*running.outputs)[index].value(), "davit_session_output");
    if (!value) return std::unexpected(std::move(value).error());
    *output = *value;
    return {};
  });
}

davit_error* davit_session_cancel(const davit_session* session) { return set_cancel(session, true, __func__); }
davit_error* davit_session_clear_cancel(const davit_session* session) { return set_cancel(session, false, __func__); }
davit_error* davit_session_set_deadline(davit_session* session, int64_t nanoseconds) {
  return with_session(session, __func__, [&](Running& running) -> Done {
    const auto now = std::chrono::time_point_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now());
    const std::int64_t left =
        (std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>::max() - now).count();
    running.session.stop_when(
        nanoseconds < 0
            ? davit::StopCondition(running.cancel)
            : davit::StopCondition(running.cancel, now + std::chrono::nanoseconds(std::min(nanoseconds, left))));
    return {};
  });
}
davit_error* davit_session_fork(const davit_session* session, davit_session** fork) {
  const bool is_cleared = clear(fork);
  return with_session(session, __func__, [&](const Running& running) -> Done {
    if (!is_cleared) return null_pointer("davit_session_fork", "fork");
    davit::Result<davit::Session> made = running.session.fork();
    if (!made) return std::unexpected<Failure>(made.error());
    *fork = Sessions::table().add(std::make_shared<Running>(running.program, *std::move(made)));
    return {};
  });
}
davit_error* davit_session_rewind(davit_session* session, const char* counter, int64_t length) {
  return with_session(session, __func__, [&](Running& running) -> Done {
    if (counter == nullptr) return null_pointer("davit_session_rewind", "counter");
    running.outputs.reset();
    return done(running.session.rewind(counter, length));
  });
}
davit_error* davit_session_reset(davit_session* session) {
  return with_session(session, __func__, [&](Running& running) -> Done {
    running.outputs.reset();
    return done(running.session.reset());
  });
}
davit_error* davit_session_save_state(const davit_session* session, const char* path) {
  return with_session(session, __func__, [&](const Running& running) -> Done {
    if (path == nullptr) return null_pointer("davit_session_save_state", "path");
    return done(davit::formats::save_state(running.session, std::string(path)));
  });
}
davit_error* davit_session_load_state(davit_session* session, const char* path) {
  return with_session(session, __func__, [&](Running& running) -> Done {
    if (path == nullptr) return null_pointer("davit_session_load_state", "path");
    running.outputs.reset();
    return done(davit::formats::load_state(running.session, std::string(path)));
  });
}
davit_error* davit_session_state_bytes(davit_session* session, const void** data, size_t* size) {
  const bool are_cleared = clear(data) && clear(size);
  return with_session(session, __func__, [&](Running& running) -> Done {
    if (!are_cleared) return null_pointer("davit_session_state_bytes", "data or size");
    davit::Result<std::vector<std::byte>> saved = davit::formats::save_state(running.session);
    if (!saved) return std::unexpected<Failure>(saved.error());
    running.saved = *std::move(saved);
    *data = running.saved.data();
    *size = running.saved.size();
    return {};
  });
}
davit_error* davit_session_load_state_bytes(davit_session* session, const void* data, size_t size) {
  return with_session(session, __func__, [&](Running& running) -> Done {
    Expected<davit::SharedBytes> bytes = copy_bytes(data, size, "davit_session_load_state_bytes");
    if (!bytes) return std::unexpected(std::move(bytes).error());
    running.outputs.reset();
    return done(davit::formats::load_state(running.session, *bytes));
  });
}
