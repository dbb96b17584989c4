// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <string>

#include "davit/backends/portable/run_time/result_type.hpp"
#include "davit/core/error.hpp"
#include "davit/core/floor_divide.hpp"
#include "davit/kernels/arithmetic.hpp"

namespace davit::portable_kernels {

namespace detail {

[[nodiscard]] inline ErrorCode sym_size(KernelCall& call) {
  std::int64_t dim = call.integer(1);
  const TensorView& x = call.tensor(0);
  if (x.rank == 0 || !wrap_dim(dim, x.rank))
    return call.refuse(ErrorCode::out_of_range, "a dimension is outside the tensor's rank");
  call.set(0, EValue(x.size(static_cast<std::size_t>(dim))));
  return ErrorCode::ok;
}
/// The stride in torch: a contiguous tensor's, or the view's own.
[[nodiscard]] inline ErrorCode sym_stride(KernelCall& call) {
  std::int64_t dim = call.integer(1);
  const TensorView& x = call.tensor(0);
  if (x.rank == 0 || !wrap_dim(dim, x.rank))
    return call.refuse(ErrorCode::out_of_range, "a dimension is outside the tensor's rank");
  call.set(0, EValue(x.stride(static_cast<std::size_t>(dim))));
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode sym_numel(KernelCall& call) {
  call.set(0, EValue(call.tensor(0).numel()));
  return ErrorCode::ok;
}
/// Offsets are folded into data pointers here, so every tensor starts its own storage.
[[nodiscard]] inline ErrorCode sym_storage_offset(KernelCall& call) {
  call.set(0, EValue(std::int64_t{call.tensor(0).storage_offset}));
  return ErrorCode::ok;
}

[[nodiscard]] inline ErrorCode local_scalar(KernelCall& call) {
  const TensorView& x = call.tensor(0);
  if (x.numel() != 1) return call.refuse(ErrorCode::invalid_shape, "only a tensor of one element can become a number");
  switch (kernels::compute_of(x.dtype)) {
    case kernels::Compute::none: return ErrorCode::invalid_dtype;
    case kernels::Compute::int64: {
      const auto v = element_as<std::int64_t>(x, 0);
      call.set(0, x.dtype == ScalarType::bool_ ? EValue(v != 0) : EValue(v));
      return ErrorCode::ok;
    }
    default: call.set(0, EValue(element_as<double>(x, 0))); return ErrorCode::ok;
  }
}
/// Prints a line to the standard output, without control characters for terminals. Source: at::native::_print.
[[nodiscard]] inline ErrorCode print(KernelCall& call) {
  const std::string text = printable(call.string(0));
  (void)std::fwrite(text.data(), 1, text.size(), stdout);
  (void)std::fputc('\n', stdout);
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode assert_scalar(KernelCall& call) {
  if (!call.arg(0).is_number())
    return call.refuse(ErrorCode::invalid_argument, "an assertion takes a number or a bool");
  return call.boolean(0) ? ErrorCode::ok
                         : call.refuse(ErrorCode::assertion_failed, "an assertion of the model does not hold");
}
[[nodiscard]] inline ErrorCode constrain_range(KernelCall& call) {
  const std::int64_t v = call.integer(0);
  const bool inside = (!call.has(1) || v >= call.integer(1)) && (!call.has(2) || v <= call.integer(2));
  return inside ? ErrorCode::ok
                : call.refuse(ErrorCode::assertion_failed, "a number of the model is outside its range");
}

/// Compares an int with a float exactly. Source: CPython's float_richcompare.
[[nodiscard]] constexpr std::partial_ordering compare(std::int64_t i, double y) noexcept {
  if (!(y >= -0x1p63 && y < 0x1p63)) return 0.0 <=> y;  // the sign of y, or NaN
  const auto whole = static_cast<std::int64_t>(y);
  if (i != whole) return i <=> whole;
  return 0.0 <=> y - static_cast<double>(whole);
}

/// Arithmetic on numbers as in Python: ints stay ints except in true division. Source: CPython's float_divmod.
enum class Sym : std::uint8_t {
  add,
  sub,
  mul,
  floordiv,
  mod,
  truediv,
  pow,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  and_,
  or_,
  max,
  min
};

[[nodiscard, gnu::noinline]] inline ErrorCode sym_binary(KernelCall& call, Sym op) {
  const EValue a = call.arg(0);
  const EValue b = call.arg(1);
  if (!a.is_number() || !b.is_number())
    return call.refuse(ErrorCode::invalid_argument, "both operands must be numbers");
  const bool real = a.is_float() || b.is_float();
  const double x = a.number();
  const double y = b.number();
  const std::int64_t i = a.integer();
  const std::int64_t k = b.integer();
  const auto order = [&]() -> std::partial_ordering {
    if (!real) return i <=> k;
    if (!a.is_float()) return compare(i, y);
    if (!b.is_float()) return 0 <=> compare(k, x);
    return x <=> y;
  }();
  const auto overflow = [&] { return call.refuse(ErrorCode::out_of_range, "arithmetic on sizes overflows"); };
  std::int64_t r = 0;
  if (op == Sym::eq)
    call.set(0, EValue(order == 0));
  else if (op == Sym::ne)
    call.set(0, EValue(order != 0));
  else if (op == Sym::lt)
    call.set(0, EValue(order < 0));
  else if (op == Sym::le)
    call.set(0, EValue(order <= 0));
  else if (op == Sym::gt)
    call.set(0, EValue(order > 0));
  else if (op == Sym::ge)
    call.set(0, EValue(order >= 0));
  else if (op == Sym::max)
    call.set(0, order >= 0 ? a : b);
  else if (op == Sym::min)
    call.set(0, order <= 0 ? a : b);
  else if (op == Sym::and_ || op == Sym::or_) {
    const bool both_bools = a.is_bool() && b.is_bool();
    r = op == Sym::and_ ? i & k : i | k;
    call.set(0, both_bools ? EValue(r != 0) : EValue(r));
  } else if (op == Sym::add) {
    if (!real && __builtin_add_overflow(i, k, &r)) return overflow();
    call.set(0, real ? EValue(x + y) : EValue(r));
  } else if (op == Sym::sub) {
    if (!real && __builtin_sub_overflow(i, k, &r)) return overflow();
    call.set(0, real ? EValue(x - y) : EValue(r));
  } else if (op == Sym::mul) {
    if (!real && __builtin_mul_overflow(i, k, &r)) return overflow();
    call.set(0, real ? EValue(x * y) : EValue(r));
  } else {
    if (y == 0 && op != Sym::pow) return call.refuse(ErrorCode::out_of_range, "division by zero");
    if (op == Sym::truediv) {
      call.set(0,
               EValue(real ? x / y : static_cast<double>(static_cast<long double>(i) / static_cast<long double>(k))));
    } else if (op == Sym::pow) {
      if (real || k < 0) {
        call.set(0, EValue(std::pow(x, y)));
      } else {
        r = 1;
        for (std::int64_t n = i < -1 || i > 1 ? k : k < 2 ? k : 2 - k % 2; n > 0; --n)  // powers of -1 repeat
          if (__builtin_mul_overflow(r, i, &r)) return overflow();
        call.set(0, EValue(r));
      }
    } else if (real) {
      kernels::Parameters none;
      const double mod = kernels::Remainder<double>(none)(x, y);
      call.set(0, EValue(op == Sym::floordiv ? kernels::FloorDivide<double>(none)(x, y)
                         : mod == 0          ? std::copysign(mod, y)
                                             : mod));
    } else {
      if (!has_quotient(i, k)) return overflow();
      const std::int64_t q = floor_divide(i, k);
      call.set(0, EValue(op == Sym::floordiv ? q : i - q * k));
    }
  }
  return ErrorCode::ok;
}

template <Sym S>
[[nodiscard]] ErrorCode sym_binary(KernelCall& call) {
  return sym_binary(call, S);
}

[[nodiscard]] inline ErrorCode sym_neg(KernelCall& call) {
  const EValue a = call.arg(0);
  if (!a.is_number()) return call.refuse(ErrorCode::invalid_argument, "the operand must be a number");
  std::int64_t negative = 0;
  if (!a.is_float() && __builtin_sub_overflow(std::int64_t{0}, a.integer(), &negative))
    return call.refuse(ErrorCode::out_of_range, "arithmetic on sizes overflows");
  call.set(0, a.is_float() ? EValue(-a.as_float()) : EValue(negative));
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode sym_pos(KernelCall& call) {
  call.set(0, call.arg(0));
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode sym_not(KernelCall& call) {
  call.set(0, EValue(!call.boolean(0)));
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode sym_int(KernelCall& call) {
  call.set(0, EValue(call.integer(0)));
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode sym_float(KernelCall& call) {
  call.set(0, EValue(call.number(0)));
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode sym_sqrt(KernelCall& call) {
  call.set(0, EValue(std::sqrt(call.number(0))));
  return ErrorCode::ok;
}
[[nodiscard]] inline ErrorCode sym_ite(KernelCall& call) {
  call.set(0, call.boolean(0) ? call.arg(1) : call.arg(2));
  return ErrorCode::ok;
}

}  // namespace detail

inline constexpr auto symbolic_ops = std::to_array<OpRow>({
    {"_operator.add", detail::sym_binary<detail::Sym::add>},
    {"_operator.and_", detail::sym_binary<detail::Sym::and_>},
    {"_operator.eq", detail::sym_binary<detail::Sym::eq>},
    {"_operator.floordiv", detail::sym_binary<detail::Sym::floordiv>},
    {"_operator.ge", detail::sym_binary<detail::Sym::ge>},
    {"_operator.gt", detail::sym_binary<detail::Sym::gt>},
    {"_operator.le", detail::sym_binary<detail::Sym::le>},
    {"_operator.lt", detail::sym_binary<detail::Sym::lt>},
    {"_operator.mod", detail::sym_binary<detail::Sym::mod>},
    {"_operator.mul", detail::sym_binary<detail::Sym::mul>},
    {"_operator.ne", detail::sym_binary<detail::Sym::ne>},
    {"_operator.neg", detail::sym_neg},
    {"_operator.or_", detail::sym_binary<detail::Sym::or_>},
    {"_operator.pos", detail::sym_pos},
    {"_operator.pow", detail::sym_binary<detail::Sym::pow>},
    {"_operator.sub", detail::sym_binary<detail::Sym::sub>},
    {"_operator.truediv", detail::sym_binary<detail::Sym::truediv>},
    {"torch.sym_float", detail::sym_float},
    {"torch.sym_int", detail::sym_int},
    {"torch.sym_ite", detail::sym_ite},
    {"torch.sym_max", detail::sym_binary<detail::Sym::max>},
    {"torch.sym_min", detail::sym_binary<detail::Sym::min>},
    {"torch.sym_not", detail::sym_not},
    {"torch.sym_sqrt", detail::sym_sqrt},
    {"aten._assert_scalar.default", detail::assert_scalar},
    {"aten._local_scalar_dense.default", detail::local_scalar},
    {"aten._print.default", detail::print},
    {"aten.item.default", detail::local_scalar},
    {"aten.sym_constrain_range_for_size.default", detail::constrain_range},
    {"aten.sym_numel.default", detail::sym_numel},
    {"aten.sym_size.int", detail::sym_size},
    {"aten.sym_storage_offset.default", detail::sym_storage_offset},
    {"aten.sym_stride.int", detail::sym_stride},
});

}  // namespace davit::portable_kernels
