// SPDX-License-Identifier: MIT
#pragma once

#include <boost/hana/core/is_a.hpp>
#include <boost/hana/first.hpp>
#include <boost/hana/map.hpp>
#include <boost/hana/pair.hpp>
#include <boost/hana/second.hpp>
#include <boost/hana/string.hpp>
#include <boost/hana/unpack.hpp>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "davit/core/fixed_string.hpp"
#include "davit/lowering/to_backend.hpp"
#include "davit/runtime/session.hpp"
#include "davit/runtime/typed_method.hpp"

namespace davit {

/// A lowered program with a session and compile-time method names: `module["forward"_s](x, h)`. A name that is not
/// among `Keys` does not compile.
template <class B, class... Keys>
class NamedModule {
 public:
  explicit NamedModule(Session session) : session_(std::move(session)) {}

  /// Returns the method of that name, a callable with the arguments of Session::run that returns Result<Outputs>. It
  /// refers to the module, which must outlive it and not move.
  template <class Key>
  [[nodiscard]] auto operator[](Key) {
    check_key<Key>();
    return [this](const auto&... args) -> Result<Outputs> {
      const auto values = detail::values_of(args...);
      if (!values) return error_of(values);
      return session_.run(index_of<Key>(), std::span<const EValue>(*values));
    };
  }

  /// Returns the method of that name for tensors of static sizes: `typed<std::tuple<Outs...>(Ins...)>("forward"_s)`.
  template <class Signature, class Key>
  [[nodiscard]] Result<TypedMethod<B, Signature>> typed(Key) const {
    check_key<Key>();
    return TypedMethod<B, Signature>::bind(session_.program(), boost::hana::to<const char*>(Key{}));
  }

  [[nodiscard]] Session& session() noexcept { return session_; }

 private:
  template <class Key>
  static consteval void check_key() {
    static_assert(
        (std::is_same_v<Key, Keys> || ...),
        "davit: the program was not lowered with a method of this name; the names are those of the map given to "
        "to_backend");
  }
  template <class Key>
  [[nodiscard]] static consteval std::size_t index_of() {
    std::size_t index = 0;
    std::size_t found = 0;
    ((std::is_same_v<Key, Keys> ? void(found = index++) : void(++index)), ...);
    return found;
  }
  Session session_;
};

/// Lowers the methods in the keys of a Hana map, `make_map(make_pair("forward"_s, spec), ...)`, onto backend B. Errors
/// as to_backend(methods, specs).
template <class B, class Map>
  requires(boost::hana::is_a<boost::hana::map_tag, Map>())
[[nodiscard]] auto to_backend(std::span<const ProgramMethod> methods, const Map& specs,
                              Diagnostics* diagnostics = nullptr) {
  detail::check_target<B>();
  return boost::hana::unpack(specs, [&](const auto&... pairs) {
    using Module = NamedModule<B, std::decay_t<decltype(boost::hana::first(pairs))>...>;
    const MethodCompileSpec<B> list[] = {
        {std::string_view(boost::hana::to<const char*>(boost::hana::first(pairs))), boost::hana::second(pairs)}...};
    Result<LoweredProgram> lowered = to_backend<B>(methods, std::span<const MethodCompileSpec<B>>(list), diagnostics);
    if (!lowered) return Result<Module>(error_of(std::move(lowered)));
    Result<Session> session = Session::make(std::move(*lowered));
    if (!session) return Result<Module>(error_of(std::move(session)));
    return Result<Module>(Module(std::move(*session)));
  });
}
/// Lowers the methods of these names, `"forward"_s, ...`, with the backend's default compile spec.
template <class B, char... method, class... More>
  requires(sizeof...(method) > 0)  // without names, {} would be a compile spec
[[nodiscard]] auto to_backend(std::span<const ProgramMethod> methods, boost::hana::string<method...> name,
                              More... more) {
  detail::check_target<B>();
  detail::check_default_spec<B>();
  const typename B::CompileSpec spec{};
  return to_backend<B>(
      methods, boost::hana::make_map(boost::hana::make_pair(name, spec), boost::hana::make_pair(more, spec)...));
}
/// @name Lowering of a program of one method, "forward".
/// @{
template <class B, class Map>
  requires(boost::hana::is_a<boost::hana::map_tag, Map>())
[[nodiscard]] auto to_backend(const ExportedProgram& program, const Map& specs, Diagnostics* diagnostics = nullptr) {
  const ProgramMethod method{"forward", &program};
  return to_backend<B>(std::span(&method, 1), specs, diagnostics);
}
template <class B, char... method>
  requires(sizeof...(method) > 0)
[[nodiscard]] auto to_backend(const ExportedProgram& program, boost::hana::string<method...> name) {
  const ProgramMethod forward{"forward", &program};
  return to_backend<B>(std::span<const ProgramMethod>(&forward, 1), name);
}
/// @}

}  // namespace davit
