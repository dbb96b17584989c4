// Written by `davit embed`: tracker, exported by torch 2.6.0+debian.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "davit/core/error.hpp"
#include "davit/embed/static_program.hpp"

/// The constants that constant evaluation reads.
namespace tracker_constants {
alignas(16) inline constexpr std::array<float, 4> p_project_bias{
    0.1976676f, 0.3000114f, -0.33897054f, -0.21773142f,};
alignas(16) inline constexpr std::array<float, 4> b_level{
    0.5f, -1.0f, 2.0f, 0.0f,};
}  // namespace tracker_constants

static_assert(std::endian::native == std::endian::little, "davit: these weights are little-endian");
namespace tracker_constants {
[[gnu::section(".rodata.davit.weights.tracker")]] alignas(16) inline constexpr char weights[] =
    "\0\124\165\273\136\124\211\76\26\263\322\276\200\146\274\276\364\62\105\276\354\113\11\76\100\117\42\274\316\372\312\76"
    "\160\277\65\275\114\173\7\76\254\273\32\276\160\110\311\275\270\221\364\276\122\213\251\276\350\16\123\276\0\273\227\74";
}  // namespace tracker_constants

/// 2 methods over one state.
struct tracker {
  static constexpr std::string_view name = "tracker";

  /// stream: x float32 [4] -> relu float32 [4]
  struct stream {
    static constexpr std::string_view name = "stream";
    static constexpr std::array<davit::StaticInput, 5> inputs{
        davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::float32, 16, 0)},  // 0: p_project_weight
        davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(tracker_constants::p_project_bias)},  // 1: p_project_bias
        davit::StaticInput{.role = davit::StaticRole::state, .data = davit::ConstantData::in_array(tracker_constants::b_level), .state_at = 0},  // 2: b_level
        davit::StaticInput{.role = davit::StaticRole::state, .state_at = 0},  // 3: b_steps
        davit::StaticInput{.role = davit::StaticRole::user},  // 4: x
    };
    static constexpr std::array<davit::StaticOutput, 3> outputs{
        davit::StaticOutput{.role = davit::StaticOutputRole::mutation, .target = 2},  // 0: add
        davit::StaticOutput{.role = davit::StaticOutputRole::mutation, .target = 3},  // 1: add_1
        davit::StaticOutput{},  // 2: relu
    };
    using kind = davit::ArgumentKind;
    using dtype = davit::ScalarType;
    static constexpr davit::StaticGraphTables<6, 13, 5, 3, 29, 8, 0> tables{
        .sizes = {
            4, 4, 4, 1, 1, 4,},
        // name, sizes (first, rank), elements, node (-1 - i: graph input i), users, element type
        .values = {{
            {"p_project_weight", 0, 2, 16, -1, 1, dtype::float32},  // 0: p_project_weight float32 [4, 4]
            {"p_project_bias", 2, 1, 4, -2, 1, dtype::float32},  // 1: p_project_bias float32 [4]
            {"b_level", 2, 1, 4, -3, 1, dtype::float32},  // 2: b_level float32 [4]
            {"b_steps", 3, 1, 1, -4, 1, dtype::int64},  // 3: b_steps int64 [1]
            {"x", 2, 1, 4, -5, 1, dtype::float32},  // 4: x float32 [4]
            {"mul", 2, 1, 4, 0, 1, dtype::float32},  // 5: mul float32 [4]
            {"view", 4, 2, 4, 1, 1, dtype::float32},  // 6: view float32 [1, 4]
            {"permute", 0, 2, 16, 2, 1, dtype::float32},  // 7: permute float32 [4, 4]
            {"addmm", 4, 2, 4, 3, 1, dtype::float32},  // 8: addmm float32 [1, 4]
            {"view_1", 2, 1, 4, 4, 1, dtype::float32},  // 9: view_1 float32 [4]
            {"add", 2, 1, 4, 5, 2, dtype::float32},  // 10: add float32 [4]
            {"add_1", 3, 1, 1, 6, 1, dtype::int64},  // 11: add_1 int64 [1]
            {"relu", 2, 1, 4, 7, 1, dtype::float32},  // 12: relu float32 [4]
        }},
        .inputs = {
            0, 1, 2, 3, 4,},
        .outputs = {
            10, 11, 12,},
        // name, kind, number or value (list: first item, count)
        .arguments = {{
            // 0: aten.mul.Tensor
            {"self", kind::value, 2},  // b_level
            {"other", kind::float_, std::bit_cast<std::int64_t>(0.5)},
            {"", kind::value, 5},  // mul
            {"", kind::int_, 1},
            {"", kind::int_, 4},
            // 1: aten.view.default
            {"self", kind::value, 4},  // x
            {"size", kind::list, 3, 2},
            {"", kind::value, 6},  // view
            {"", kind::int_, 1},
            {"", kind::int_, 0},
            // 2: aten.permute.default
            {"self", kind::value, 0},  // p_project_weight
            {"dims", kind::list, 8, 2},
            {"", kind::value, 7},  // permute
            // 3: aten.addmm.default
            {"self", kind::value, 1},  // p_project_bias
            {"mat1", kind::value, 6},  // view
            {"mat2", kind::value, 7},  // permute
            {"", kind::value, 8},  // addmm
            {"", kind::int_, 4},
            // 4: aten.view.default
            {"self", kind::value, 8},  // addmm
            {"size", kind::list, 17, 1},
            {"", kind::value, 9},  // view_1
            // 5: aten.add.Tensor
            {"self", kind::value, 5},  // mul
            {"other", kind::value, 9},  // view_1
            {"", kind::value, 10},  // add
            // 6: aten.add.Tensor
            {"self", kind::value, 3},  // b_steps
            {"other", kind::int_, 1},
            {"", kind::value, 11},  // add_1
            // 7: aten.relu.default
            {"self", kind::value, 10},  // add
            {"", kind::value, 12},  // relu
        }},
        // operator, inputs (first, count), outputs (first, count)
        .nodes = {{
            {"aten.mul.Tensor", 0, 2, 2, 1},  // 0: mul = aten.mul.Tensor(b_level)
            {"aten.view.default", 5, 2, 7, 1},  // 1: view = aten.view.default(x)
            {"aten.permute.default", 10, 2, 12, 1},  // 2: permute = aten.permute.default(p_project_weight)
            {"aten.addmm.default", 13, 3, 16, 1},  // 3: addmm = aten.addmm.default(p_project_bias, view, permute)
            {"aten.view.default", 18, 2, 20, 1},  // 4: view_1 = aten.view.default(addmm)
            {"aten.add.Tensor", 21, 2, 23, 1},  // 5: add = aten.add.Tensor(mul, view_1)
            {"aten.add.Tensor", 24, 2, 26, 1},  // 6: add_1 = aten.add.Tensor(b_steps)
            {"aten.relu.default", 27, 1, 28, 1},  // 7: relu = aten.relu.default(add)
        }},
        .strings = {}};
    static const std::byte* weights() noexcept { return reinterpret_cast<const std::byte*>(tracker_constants::weights); }
  };

  /// read: gain float32 [4] -> mul float32 [4], mul_1 int64 [1]
  struct read {
    static constexpr std::string_view name = "read";
    static constexpr std::array<davit::StaticInput, 5> inputs{
        davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::float32, 16, 0)},  // 0: p_project_weight
        davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(tracker_constants::p_project_bias)},  // 1: p_project_bias
        davit::StaticInput{.role = davit::StaticRole::state, .data = davit::ConstantData::in_array(tracker_constants::b_level), .state_at = 0},  // 2: b_level
        davit::StaticInput{.role = davit::StaticRole::state, .state_at = 0},  // 3: b_steps
        davit::StaticInput{.role = davit::StaticRole::user},  // 4: gain
    };
    static constexpr std::array<davit::StaticOutput, 2> outputs{
        davit::StaticOutput{},  // 0: mul
        davit::StaticOutput{},  // 1: mul_1
    };
    using kind = davit::ArgumentKind;
    using dtype = davit::ScalarType;
    static constexpr davit::StaticGraphTables<6, 11, 5, 2, 24, 6, 0> tables{
        .sizes = {
            4, 4, 4, 1, 1, 4,},
        // name, sizes (first, rank), elements, node (-1 - i: graph input i), users, element type
        .values = {{
            {"p_project_weight", 0, 2, 16, -1, 1, dtype::float32},  // 0: p_project_weight float32 [4, 4]
            {"p_project_bias", 2, 1, 4, -2, 1, dtype::float32},  // 1: p_project_bias float32 [4]
            {"b_level", 2, 1, 4, -3, 1, dtype::float32},  // 2: b_level float32 [4]
            {"b_steps", 3, 1, 1, -4, 1, dtype::int64},  // 3: b_steps int64 [1]
            {"gain", 2, 1, 4, -5, 1, dtype::float32},  // 4: gain float32 [4]
            {"view", 4, 2, 4, 0, 1, dtype::float32},  // 5: view float32 [1, 4]
            {"permute", 0, 2, 16, 1, 1, dtype::float32},  // 6: permute float32 [4, 4]
            {"addmm", 4, 2, 4, 2, 1, dtype::float32},  // 7: addmm float32 [1, 4]
            {"view_1", 2, 1, 4, 3, 1, dtype::float32},  // 8: view_1 float32 [4]
            {"mul", 2, 1, 4, 4, 1, dtype::float32},  // 9: mul float32 [4]
            {"mul_1", 3, 1, 1, 5, 1, dtype::int64},  // 10: mul_1 int64 [1]
        }},
        .inputs = {
            0, 1, 2, 3, 4,},
        .outputs = {
            9, 10,},
        // name, kind, number or value (list: first item, count)
        .arguments = {{
            {"", kind::int_, 1},
            {"", kind::int_, 4},
            // 0: aten.view.default
            {"self", kind::value, 4},  // gain
            {"size", kind::list, 0, 2},
            {"", kind::value, 5},  // view
            {"", kind::int_, 1},
            {"", kind::int_, 0},
            // 1: aten.permute.default
            {"self", kind::value, 0},  // p_project_weight
            {"dims", kind::list, 5, 2},
            {"", kind::value, 6},  // permute
            // 2: aten.addmm.default
            {"self", kind::value, 1},  // p_project_bias
            {"mat1", kind::value, 5},  // view
            {"mat2", kind::value, 6},  // permute
            {"", kind::value, 7},  // addmm
            {"", kind::int_, 4},
            // 3: aten.view.default
            {"self", kind::value, 7},  // addmm
            {"size", kind::list, 14, 1},
            {"", kind::value, 8},  // view_1
            // 4: aten.mul.Tensor
            {"self", kind::value, 8},  // view_1
            {"other", kind::value, 2},  // b_level
            {"", kind::value, 9},  // mul
            // 5: aten.mul.Tensor
            {"self", kind::value, 3},  // b_steps
            {"other", kind::int_, 1},
            {"", kind::value, 10},  // mul_1
        }},
        // operator, inputs (first, count), outputs (first, count)
        .nodes = {{
            {"aten.view.default", 2, 2, 4, 1},  // 0: view = aten.view.default(gain)
            {"aten.permute.default", 7, 2, 9, 1},  // 1: permute = aten.permute.default(p_project_weight)
            {"aten.addmm.default", 10, 3, 13, 1},  // 2: addmm = aten.addmm.default(p_project_bias, view, permute)
            {"aten.view.default", 15, 2, 17, 1},  // 3: view_1 = aten.view.default(addmm)
            {"aten.mul.Tensor", 18, 2, 20, 1},  // 4: mul = aten.mul.Tensor(view_1, b_level)
            {"aten.mul.Tensor", 21, 2, 23, 1},  // 5: mul_1 = aten.mul.Tensor(b_steps)
        }},
        .strings = {}};
    static const std::byte* weights() noexcept { return reinterpret_cast<const std::byte*>(tracker_constants::weights); }
  };

  using methods = davit::static_methods<stream, read>;
  /// What a static_module of the program derives from.
  template <class Module>
  struct calls {
    template <class... Tensors>
    constexpr davit::Status stream(Tensors&&... tensors) noexcept {
      return static_cast<Module&>(*this).template call<struct tracker::stream>(tensors...);
    }
    template <class... Tensors>
    constexpr davit::Status read(Tensors&&... tensors) noexcept {
      return static_cast<Module&>(*this).template call<struct tracker::read>(tensors...);
    }
  };
};
