// SPDX-License-Identifier: MIT
// A program with an operator that its author registered with torch.library. A table row adds it to portable.
//   own_operator swish.pt2
#include <davit/davit.hpp>
#include <davit/formats/pt2.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace {

using davit::ErrorCode;
using davit::portable_kernels::KernelCall;

/// gallery::swish_by(x, beta) = x * sigmoid(beta * x)
ErrorCode swish_by(KernelCall& call) {
  const davit::TensorView& x = call.tensor(0);
  if (x.dtype != davit::ScalarType::float32 || !x.is_contiguous())
    return call.refuse(ErrorCode::invalid_dtype, "only contiguous float32");
  const auto beta = static_cast<float>(call.number(1));
  if (const ErrorCode code = call.make_like(0, x); code != ErrorCode::ok) return code;
  float* y = call.output(0).as<float>();
  for (std::int64_t i = 0; i < x.numel(); ++i) y[i] = x.as<float>()[i] / (1 + std::exp(-beta * x.as<float>()[i]));
  return ErrorCode::ok;
}

struct Gallery {
  static constexpr std::array<davit::portable_kernels::CustomOperator, 1> operators{{
      {{"gallery.swish_by.default", swish_by}, "gallery.swish_by.default(Tensor x, float beta) -> Tensor"},
  }};
};

int fail(const davit::Error& error) { return std::fprintf(stderr, "%s\n", to_string(error).c_str()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: own_operator swish.pt2\n"), 2;
  const auto program = davit::formats::read_pt2(argv[1]);
  if (!program) return fail(program.error());
  if (const auto without = davit::to_backend<davit::portable>(*program); !without)
    std::printf("without it: %s\n", std::string(without.error().what.view()).c_str());

  const auto lowered = davit::to_backend<davit::portable_with<Gallery>>(*program);
  if (!lowered) return fail(lowered.error());
  auto session = davit::Session::make(*lowered);
  if (!session) return fail(session.error());
  const std::array<float, 4> x{-1, 0, 0.5F, 1};
  const auto outputs = session->run("forward", davit::tensor(x, {4}));
  if (!outputs) return fail(outputs.error());
  const auto y = (*outputs)[0].as<float>();
  if (!y) return fail(y.error());
  for (const float each : *y) std::printf("%.4f ", static_cast<double>(each));
  std::printf("\n");
}
