// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "davit/core/scalar_type.hpp"
#include "davit/kernels/half_vectors.hpp"
#include "davit/kernels/instruction_set.hpp"
#include "davit/kernels/vectors.hpp"

namespace davit::kernels {

template <class T>
inline constexpr bool is_reduced_float = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

namespace detail {

/// True if floats are converted to To by way of int32; uint8 goes by way of int64. Source:
/// c10::static_cast_with_inter_type.
template <class To>
inline constexpr bool comes_by_int32 = sizeof(To) < 8 && (std::is_signed_v<To> || sizeof(To) == 2);

/// The integer part of a float, of which To keeps the low bits. In C++ the conversion of NaN and of numbers out of
/// range is undefined; the result here is x86's, as is torch's: INT_MIN or INT64_MIN; for uint64 also x + 2^63 up to
/// 2^63, else 0.
template <class To, class From>
[[nodiscard]] constexpr std::int64_t whole_part(From value) noexcept {
  const auto wide = [](From v) {
    return v > From(-0x1p63) && v < From(0x1p63) ? static_cast<std::int64_t>(v) : INT64_MIN;
  };
  if constexpr (comes_by_int32<To>) {
    const std::int64_t whole = wide(value);
    return whole >= INT32_MIN && whole <= INT32_MAX ? whole : INT32_MIN;
  } else if constexpr (std::is_same_v<To, std::uint64_t>) {
    return value >= From(0x1p63) ? wide(value - From(0x1p63)) ^ INT64_MIN : wide(value);
  } else {
    return wide(value);
  }
}

/// Tags int64 elements that are converted to To as `whole_part` says.
template <class To>
struct WholeOf {
  using Element = To;
};
template <class T>
inline constexpr bool is_whole_of = false;
template <class To>
inline constexpr bool is_whole_of<WholeOf<To>> = true;

}  // namespace detail

/// Converts an element as `Tensor.to(dtype)` does.
template <class To, class From>
[[nodiscard]] constexpr To convert(From value) noexcept {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0.0f * 0);
  } else if constexpr (is_reduced_float<To>) {
    return To(static_cast<float>(value));
  } else if constexpr (is_reduced_float<From>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return static_cast<To>(detail::whole_part<To>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// The compute types of operators. Integers are computed in 64 bits and truncated when stored, which equals arithmetic
/// modulo 2^n; bools are 0 and 1.
enum class Compute : std::uint8_t { none, float32, float64, int64 };

/// The compute type of arithmetic on a dtype; none for complex, float8 and unsigned dtypes of more than 8 bits, for
/// which torch has no arithmetic either.
[[nodiscard]] constexpr Compute compute_of(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::float32:
    case ScalarType::float16:
    case ScalarType::bfloat16: return Compute::float32;
    case ScalarType::float64: return Compute::float64;
    case ScalarType::int64:
    case ScalarType::int32:
    case ScalarType::int16:
    case ScalarType::int8:
    case ScalarType::uint8:
    case ScalarType::bool_: return Compute::int64;
    default: return Compute::none;
  }
}
[[nodiscard]] constexpr ScalarType scalar_type_of_compute(Compute compute) noexcept {
  switch (compute) {
    case Compute::float32: return ScalarType::float32;
    case Compute::float64: return ScalarType::float64;
    case Compute::int64: return ScalarType::int64;
    case Compute::none: break;
  }
  return ScalarType::undefined;
}

/// Converts n contiguous elements of one type into those of another.
using ConvertBlock = void (*)(const void* from, void* to, std::int64_t n) noexcept;

namespace detail {

/// A bool in memory may be any byte.
template <class T>
using Stored =
    std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, std::conditional_t<is_whole_of<T>, std::int64_t, T>>;

template <class From, class To>
inline constexpr bool is_float_and_double = (std::is_same_v<From, double> && std::is_same_v<To, float>) ||
                                            (std::is_same_v<From, float> && std::is_same_v<To, double>);

/// True if a conversion is compiled for wider vectors: half_vectors.hpp has those between half types and float, and
/// compilers vectorize those of integers to int64, back, and to float.
template <class From, class To>
[[nodiscard]] consteval bool converts_on_vectors() noexcept {
  if (is_whole_of<To>) return false;
  if (is_float_and_double<From, To>) return true;
  if (is_reduced_float<From>) return std::is_same_v<To, float>;
  if (is_reduced_float<To>) return std::is_same_v<From, float>;
  if (!std::is_integral_v<From> || (std::is_unsigned_v<From> && sizeof(From) > 1)) return false;
  if (std::is_same_v<From, std::int64_t>) return std::is_integral_v<To> && sizeof(To) <= sizeof(std::int32_t);
  return std::is_same_v<To, std::int64_t> || std::is_same_v<To, float>;
}
template <class From, class To>
struct ConvertBlockOf {
  template <std::size_t Bytes>
  [[gnu::always_inline]] static void run(const Stored<From>* from, Stored<To>* to, std::int64_t n) noexcept {
    std::int64_t i = 0;
    if constexpr (walks_vectors<Bytes> && is_float_and_double<From, To>) {
      constexpr std::int64_t lane = lanes<double, Bytes>;
      using Result = Vector<To, static_cast<std::size_t>(lane) * sizeof(To)>;
      for (const std::int64_t end = n / lane * lane; i < end; i += lane)
        vector_at<sizeof(Result)>(to + i) =
            __builtin_convertvector(vector_at<static_cast<std::size_t>(lane) * sizeof(From)>(from + i), Result);
    } else if constexpr (walks_vectors<Bytes> && converts_on_vectors<From, To>() &&
                         (is_reduced_float<From> || is_reduced_float<To>)) {
      constexpr std::int64_t lane = lanes<float, Bytes>;
      for (const std::int64_t end = n / lane * lane; i < end; i += lane) {
        if constexpr (is_reduced_float<From>)
          widen<Bytes>(from + i, to + i);
        else
          narrow<Bytes>(from + i, to + i);
      }
    }
    for (; i < n; ++i) {
      if constexpr (is_whole_of<To>)
        to[i] = whole_part<typename To::Element>(
            convert<std::conditional_t<std::is_same_v<From, double>, double, float>>(from[i]));
      else if constexpr (std::is_same_v<From, bool>)
        to[i] = static_cast<Stored<To>>(convert<To>(from[i] != 0));
      else
        to[i] = static_cast<Stored<To>>(convert<To>(from[i]));
    }
  }
};
template <class From, class To>
void convert_block(const void* from, void* to, std::int64_t n) noexcept {
  const auto* source = static_cast<const Stored<From>*>(from);
  auto* target = static_cast<Stored<To>*>(to);
  if constexpr (converts_on_vectors<From, To>())
    run_widest<ConvertBlockOf<From, To>>(source, target, n);
  else
    ConvertBlockOf<From, To>::template run<vector_bytes>(source, target, n);
}

/// The index of a real dtype in tables; 13 for others.
[[nodiscard]] constexpr std::size_t place_of(ScalarType type) noexcept {
  switch (type) {
    case ScalarType::float32: return 0;
    case ScalarType::float64: return 1;
    case ScalarType::float16: return 2;
    case ScalarType::bfloat16: return 3;
    case ScalarType::int64: return 4;
    case ScalarType::int32: return 5;
    case ScalarType::int16: return 6;
    case ScalarType::int8: return 7;
    case ScalarType::uint8: return 8;
    case ScalarType::uint16: return 9;
    case ScalarType::uint32: return 10;
    case ScalarType::uint64: return 11;
    case ScalarType::bool_: return 12;
    default: return 13;
  }
}
inline constexpr std::size_t no_place = 13;

template <class C>
inline constexpr std::array<ConvertBlock, no_place> loaders{
    convert_block<float, C>,         convert_block<double, C>,        convert_block<Half, C>,
    convert_block<BFloat16, C>,      convert_block<std::int64_t, C>,  convert_block<std::int32_t, C>,
    convert_block<std::int16_t, C>,  convert_block<std::int8_t, C>,   convert_block<std::uint8_t, C>,
    convert_block<std::uint16_t, C>, convert_block<std::uint32_t, C>, convert_block<std::uint64_t, C>,
    convert_block<bool, C>};

/// Storers from the compute type of a dtype; integers of one width share theirs. uint16 and wider are stored as
/// integers, too.
inline constexpr std::array<ConvertBlock, no_place> storers{convert_block<float, float>,
                                                            convert_block<double, double>,
                                                            convert_block<float, Half>,
                                                            convert_block<float, BFloat16>,
                                                            convert_block<std::int64_t, std::int64_t>,
                                                            convert_block<std::int64_t, std::int32_t>,
                                                            convert_block<std::int64_t, std::int16_t>,
                                                            convert_block<std::int64_t, std::int8_t>,
                                                            convert_block<std::int64_t, std::int8_t>,
                                                            convert_block<std::int64_t, std::int16_t>,
                                                            convert_block<std::int64_t, std::int32_t>,
                                                            convert_block<std::int64_t, std::int64_t>,
                                                            convert_block<std::int64_t, bool>};

/// Converts floats to the int64 elements from which a dtype's elements are truncated.
template <class To>
inline constexpr std::array<ConvertBlock, 4> whole_loaders{
    convert_block<float, WholeOf<To>>, convert_block<double, WholeOf<To>>, convert_block<Half, WholeOf<To>>,
    convert_block<BFloat16, WholeOf<To>>};
/// The loader from a dtype into int64 for a later store as `to`.
[[nodiscard]] inline ConvertBlock whole_loader(ScalarType from, ScalarType to) noexcept {
  const std::size_t place = place_of(from);
  if (place < 4) {
    switch (to) {
      case ScalarType::int32:
      case ScalarType::int16:
      case ScalarType::int8:
      case ScalarType::uint16: return whole_loaders<std::int32_t>[place];
      case ScalarType::uint64: return whole_loaders<std::uint64_t>[place];
      default: break;
    }
  }
  return loaders<std::int64_t>[place];
}

[[nodiscard]] inline ConvertBlock loader(ScalarType from, ScalarType into) noexcept {
  const std::size_t place = place_of(from);
  switch (into) {
    case ScalarType::float32: return loaders<float>[place];
    case ScalarType::float64: return loaders<double>[place];
    case ScalarType::bool_: return loaders<bool>[place];
    default: return loaders<std::int64_t>[place];
  }
}

}  // namespace detail

/// True for dtypes of real numbers, which can be converted.
[[nodiscard]] constexpr bool is_real(ScalarType type) noexcept { return detail::place_of(type) != detail::no_place; }

/// True for dtypes whose elements can be copied bit by bit: real and complex ones.
[[nodiscard]] constexpr bool is_movable(ScalarType type) noexcept {
  return is_real(type) || type == ScalarType::complex64 || type == ScalarType::complex128;
}

/// The steps of a conversion from one dtype to another, or to its compute type. No steps: both are the same.
///
/// Each dtype has loaders into float, double, int64 and bool, and a storer from its compute type: 65 loops for 169
/// pairs, and none per operator.
class Conversion {
 public:
  /// `ok` is false for dtypes that are not real.
  [[nodiscard, gnu::noinline]] static Conversion between(ScalarType from, ScalarType to) noexcept {
    Conversion c;
    c.begin(from, to);
    return c;
  }
  /// The conversion to the compute type of `as`, rounded as a tensor of dtype `as` would be.
  [[nodiscard, gnu::noinline]] static Conversion into_compute(ScalarType from, ScalarType as) noexcept {
    Conversion c;
    c.begin(from, as);
    const ScalarType into = wide(as);
    if (as != into) c.push(detail::loader(as, into));
    c.element = size_of(into);
    return c;
  }

  bool ok = true;
  std::uint8_t count = 0;
  std::size_t element = 0;  ///< bytes of a resulting element
  std::array<ConvertBlock, 3> steps{};

  /// Runs all steps. `from` is not changed; `to` and `scratch` are blocks of n of the widest elements.
  [[gnu::noinline]] void run(const void* from, void* to, void* scratch, std::int64_t n) const noexcept {
    for (std::size_t k = 0; k < count; ++k) {
      void* target = (count - 1 - k) % 2 == 0 ? to : scratch;
      steps[k](from, target, n);
      from = target;
    }
  }

 private:
  /// The type, float or one of 8 bytes, that holds all elements of a dtype.
  [[nodiscard]] static constexpr ScalarType wide(ScalarType type) noexcept {
    switch (type) {
      case ScalarType::float32:
      case ScalarType::float16:
      case ScalarType::bfloat16: return ScalarType::float32;
      case ScalarType::float64: return ScalarType::float64;
      default: return ScalarType::int64;
    }
  }
  void push(ConvertBlock step) noexcept { steps[count++] = step; }
  void begin(ScalarType from, ScalarType to) noexcept {
    element = size_of(to);
    ok = is_real(from) && is_real(to);
    if (from == to || !ok) return;
    if (to == ScalarType::bool_) return push(detail::loader(from, to));
    const ScalarType middle = wide(to);
    if (from != middle)
      push(middle == ScalarType::int64 ? detail::whole_loader(from, to) : detail::loader(from, middle));
    if (to != middle) push(detail::storers[detail::place_of(to)]);
  }
};

/// Stores one number, an int64, a double or a float, as an element of a dtype.
template <class From>
[[nodiscard]] bool store_element(From value, ScalarType type, void* to) noexcept {
  const Conversion c = Conversion::between(scalar_type_of<From>, type);
  std::uint64_t result = 0;
  std::uint64_t scratch = 0;
  if (c.count == 0) {
    std::memcpy(to, &value, sizeof value);
    return c.ok;
  }
  c.run(&value, &result, &scratch, 1);
  std::memcpy(to, &result, c.element);
  return c.ok;
}
/// Loads one element of a dtype as a float, a double, an int64 or a bool.
template <class To>
[[nodiscard]] bool load_element(const void* from, ScalarType type, To& to) noexcept {
  if (!is_real(type)) return false;
  detail::loaders<To>[detail::place_of(type)](from, &to, 1);
  return true;
}

}  // namespace davit::kernels
