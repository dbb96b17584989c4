// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "davit/backends/portable/run_time/dispatch.hpp"
#include "davit/backends/portable/run_time/kernel_call.hpp"
#include "davit/core/tensor.hpp"
#include "davit/kernels/thread_team.hpp"

/// Runs kernels of the portable backend without a program, on values of its own.
struct KernelTest {
  using Integers = std::vector<std::int64_t>;
  using Numbers = std::vector<double>;

  [[nodiscard]] static bool near(const Numbers& a, const Numbers& b, double tolerance) {
    return std::ranges::equal(a, b, [&](double x, double y) { return std::fabs(x - y) < tolerance; });
  }

  /// A contiguous tensor with these elements, converted to its dtype.
  davit::EValue tensor(davit::ScalarType type, const Integers& sizes, const Numbers& values) {
    const davit::Tensor& tensor = tensors.emplace_back(davit::Tensor::zeros(type, sizes));
    const auto count = std::min(static_cast<std::size_t>(tensor.numel()), values.size());
    for (std::size_t i = 0; i < count; ++i)
      (void)davit::kernels::store_element(values[i], type, tensor.view().as<std::byte>() + i * davit::size_of(type));
    return tensor.view();
  }
  /// Other sizes and strides over the elements of a tensor. The caller keeps them inside it.
  davit::EValue view(davit::EValue of, const Integers& sizes, const Integers& strides, std::int64_t offset = 0) {
    const Integers& kept_sizes = integers.emplace_back(sizes);
    const Integers& kept_strides = integers.emplace_back(strides);
    return davit::TensorView{of.tensor().element_at(offset), kept_sizes.data(), kept_strides.data(),
                             static_cast<std::uint8_t>(sizes.size()), of.tensor().dtype};
  }
  /// A vector of complex64 or complex128 numbers, given by pairs.
  davit::EValue complex_line(davit::ScalarType type, const Numbers& pairs) {
    const auto n = static_cast<std::int64_t>(pairs.size() / 2);
    davit::TensorView line = view(tensor(davit::real_of(type), {n, 2}, pairs), {n}, {1}).tensor();
    line.dtype = type;
    return line;
  }
  davit::EValue list(std::initializer_list<davit::EValue> items) {
    return std::span<const davit::EValue>(lists.emplace_back(items));
  }

  /// Calls the kernel of that name with arguments for all parameters of its schema; unsupported_operator if the family
  /// lacks it. Outputs are valid until the next call.
  davit::ErrorCode run(std::span<const davit::portable_kernels::OpRow> family, std::string_view name,
                       std::span<const davit::EValue> arguments, std::size_t output_count = 1) {
    for (const davit::portable_kernels::OpRow& row : family) {
      if (row.name != name) continue;
      memory.reset();
      outputs.assign(output_count, {});
      places.assign(output_count, {});
      dims.assign(output_count, {});
      for (std::size_t i = 0; i < output_count; ++i)
        places[i] = {
            .sizes = dims[i].data(), .strides = dims[i].data() + davit::max_rank, .rank_limit = davit::max_rank};
      davit::portable_kernels::KernelCall call(arguments, outputs, places, memory);
      call.reads_state = reads_state;
      const davit::ErrorCode code = row.kernel(call);
      why = call.why == nullptr ? std::string_view{} : std::string_view(call.why);
      return code;
    }
    return davit::ErrorCode::unsupported_operator;
  }
  davit::ErrorCode run(std::span<const davit::portable_kernels::OpRow> family, std::string_view name,
                       std::initializer_list<davit::EValue> arguments, std::size_t output_count = 1) {
    return run(family, name, std::span<const davit::EValue>(arguments.begin(), arguments.size()), output_count);
  }

  /// True if the kernel gives the same bits on a team of three threads, with the smallest shares.
  [[nodiscard]] bool is_same_on_threads(std::span<const davit::portable_kernels::OpRow> family, std::string_view name,
                                        std::initializer_list<davit::EValue> arguments, std::size_t output_count = 1) {
    const auto bits = [&] {
      std::vector<std::byte> all;
      if (run(family, name, arguments, output_count) != davit::ErrorCode::ok) return all;
      for (const davit::EValue& output : outputs) {
        const auto* const first = static_cast<const std::byte*>(output.tensor().data);
        all.insert(all.end(), first, first + output.tensor().nbytes());
      }
      return all;
    };
    const std::vector<std::byte> alone = bits();
    davit::kernels::ThreadTeam team(3, 1);
    const davit::kernels::TeamScope scope(&team);
    return !alone.empty() && bits() == alone;
  }

  [[nodiscard]] davit::ScalarType dtype(std::size_t i = 0) const { return outputs[i].tensor().dtype; }
  [[nodiscard]] Integers sizes(std::size_t i = 0) const {
    const auto all = outputs[i].tensor().sizes();
    return {all.begin(), all.end()};
  }
  /// The elements of an output in row-major order.
  [[nodiscard]] Numbers values(std::size_t i = 0) const {
    const davit::TensorView& t = outputs[i].tensor();
    Numbers all;
    davit::kernels::for_each_index<1>(t.sizes(), {davit::kernels::strides_of(t)}, [&](std::int64_t at) {
      const auto* element = t.as<std::byte>() + at * static_cast<std::int64_t>(davit::size_of(t.dtype));
      (void)davit::kernels::load_element(element, t.dtype, all.emplace_back());
    });
    return all;
  }

  std::string_view why;      ///< the sentence of the last error
  bool reads_state = false;  ///< of the next call: KernelCall::reads_state
  std::vector<davit::EValue> outputs;

 private:
  std::deque<davit::Tensor> tensors;
  std::deque<Integers> integers;
  std::deque<std::vector<davit::EValue>> lists;
  std::vector<davit::portable_kernels::OutputPlace> places;
  std::vector<std::array<std::int64_t, 2 * davit::max_rank>> dims;
  davit::portable_kernels::KernelMemory memory;
};
