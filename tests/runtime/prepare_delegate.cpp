// SPDX-License-Identifier: MIT
#include "davit/runtime/prepare_delegate.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>

#include "../programs.hpp"

using namespace davit;

namespace {

/// The required functions of a backend, without prepare.
struct plain {
  static constexpr std::string_view name = "plain";
  struct CompileSpec {};
  struct Processed {};
  struct Handle {
    std::size_t wants = 0;
    bool fails = false;
  };
  static bool is_available() { return true; }
  static Result<Handle> compile(const Processed&, const CompileSpec&) { return Handle{}; }
  template <class Context>
  static Status execute(const Handle&, std::span<const EValue>, std::span<EValue>, Context&) {
    return {};
  }
};
/// A backend that prepares without destinations and records the arguments.
struct preparing : plain {
  static constexpr std::string_view name = "preparing";
  struct Workspace {
    std::size_t inputs = 0;
  };
  static Result<std::size_t> prepare(const Handle& handle, std::span<const EValue> inputs, Workspace& workspace) {
    workspace.inputs = inputs.size();
    if (handle.fails) return std::unexpected(Error{.code = ErrorCode::failed, .what = "it must not"});
    return handle.wants;
  }
};
/// A backend that fills destinations.
struct filling : plain {
  static constexpr std::string_view name = "filling";
  struct Workspace {
    std::size_t destinations = 0;
  };
  static Result<std::size_t> prepare(const Handle& handle, std::span<const EValue>, std::span<const EValue> outputs,
                                     Workspace& workspace) {
    workspace.destinations = 0;
    for (const EValue& output : outputs) workspace.destinations += output.is_tensor() ? 1 : 0;
    return handle.wants;
  }
};
static_assert(!Prepares<plain> && Prepares<preparing> && !FillsDestinations<preparing> && FillsDestinations<filling> &&
              Prepares<filling>);

template <class B>
Result<std::size_t> scratch_for_of(const typename B::Handle& handle, std::span<const EValue> inputs,
                                   std::span<const EValue> outputs, workspace_of<B>& workspace) {
  return scratch_for(backend_table<B>, &handle, inputs, outputs, &workspace);
}
template <class B>
Result<void> prepare_delegate_of(const typename B::Handle& handle, std::span<const EValue> inputs,
                                 std::span<const EValue> outputs, workspace_of<B>& workspace, Scratch& scratch) {
  return prepare_delegate(backend_table<B>, &handle, inputs, outputs, &workspace, scratch);
}

}  // namespace

TEST_CASE("a backend that does not prepare wants nothing") {
  workspace_of<plain> workspace{};
  Scratch scratch;
  CHECK(scratch_for_of<plain>({}, {}, {}, workspace).value() == 0);
  CHECK(prepare_delegate_of<plain>({}, {}, {}, workspace, scratch));
  CHECK(scratch.span().empty());
}

TEST_CASE("a backend that prepares sees its inputs, and gets the scratch that it asks for") {
  workspace_of<preparing> workspace{};
  Scratch scratch;
  const EValue inputs[] = {1, 2};
  CHECK(prepare_delegate_of<preparing>({.wants = 100}, inputs, {}, workspace, scratch));
  CHECK(workspace.inputs == 2);
  CHECK(scratch.span().size() == 100);
  CHECK(reinterpret_cast<std::uintptr_t>(scratch.span().data()) % 64 == 0);
  CHECK(prepare_delegate_of<preparing>({.wants = 10}, inputs, {}, workspace, scratch));
  CHECK(scratch.span().size() == 100);
}

TEST_CASE("a backend that fills destinations learns which outputs have one") {
  workspace_of<filling> workspace{};
  Scratch scratch;
  const Tensor x = programs::scalar(1);
  const EValue outputs[] = {x, EValue(), x};
  CHECK(scratch_for_of<filling>({.wants = 7}, {}, outputs, workspace).value() == 7);
  CHECK(workspace.destinations == 2);
  CHECK(prepare_delegate_of<filling>({.wants = 7}, {}, {}, workspace, scratch));
  CHECK(workspace.destinations == 0);
}

TEST_CASE("an error of prepare names the backend, and scratch that does not fit into memory is an error") {
  workspace_of<preparing> workspace{};
  Scratch scratch;
  REQUIRE(scratch.reserve(64));
  const auto failed = prepare_delegate_of<preparing>({.fails = true}, {}, {}, workspace, scratch);
  REQUIRE(!failed);
  CHECK(failed.error().backend == "preparing");
  CHECK(failed.error().what == "it must not");
  const auto huge = prepare_delegate_of<preparing>({.wants = SIZE_MAX / 2}, {}, {}, workspace, scratch);
  REQUIRE(!huge);
  CHECK(huge.error().code == ErrorCode::out_of_memory);
  CHECK(huge.error().stage == Stage::execute);
  CHECK(huge.error().backend == "preparing");
  CHECK(huge.error().what == concat("no memory for ", SIZE_MAX / 2, " bytes of scratch"));
  CHECK(scratch.span().size() == 64);
}
