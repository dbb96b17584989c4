// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <climits>
#include <version>

#include "davit/core/config.hpp"

/// The CPU and the system that a file is compiled for. The compiler's own macros for them are asked here, in
/// kernels/vectors.hpp and in kernels/instruction_set.hpp alone (tests/checks/targets); each macro below is 0 or 1.
/// Features that the CPU may lack are not among them: those are asked when a kernel runs.

#if defined(__x86_64__)
#define DAVIT_TARGET_X86_64 1
#else
#define DAVIT_TARGET_X86_64 0
#endif
#if defined(__aarch64__)
#define DAVIT_TARGET_ARM64 1
#else
#define DAVIT_TARGET_ARM64 0
#endif
/// Arm in 32 bits: Cortex-M, and Linux's armhf.
#if defined(__arm__)
#define DAVIT_TARGET_ARM32 1
#else
#define DAVIT_TARGET_ARM32 0
#endif
#if defined(__linux__)
#define DAVIT_TARGET_LINUX 1
#else
#define DAVIT_TARGET_LINUX 0
#endif
#if defined(_WIN32)
#define DAVIT_TARGET_WINDOWS 1
#else
#define DAVIT_TARGET_WINDOWS 0
#endif
/// Files, of which programs in a browser have none.
#if defined(__cpp_lib_filesystem)
#define DAVIT_TARGET_FILES 1
#else
#define DAVIT_TARGET_FILES 0
#endif
/// g++ for Windows keeps the stack at multiples of 16 bytes, and stores vectors of 32 there as if they lay at their
/// own.
#if defined(_WIN32) && defined(__GNUC__) && !defined(__clang__)
#define DAVIT_TARGET_WIDE_STACK 0
#else
#define DAVIT_TARGET_WIDE_STACK 1
#endif

/// x86's vectors of 16 bytes: in 32 bits only where the compiler is told so.
#if defined(__SSE2__)
#define DAVIT_TARGET_SSE2 1
#else
#define DAVIT_TARGET_SSE2 0
#endif
/// Arm's vectors of 16 bytes.
#if defined(__ARM_NEON)
#define DAVIT_TARGET_NEON 1
#else
#define DAVIT_TARGET_NEON 0
#endif
/// Arm's floating point unit, in 32 bits: of float, of double.
#if defined(__ARM_FP)
#define DAVIT_TARGET_ARM_FLOAT ((__ARM_FP & 4) != 0)
#define DAVIT_TARGET_ARM_DOUBLE ((__ARM_FP & 8) != 0)
#define DAVIT_TARGET_FLOAT_ONLY ((__ARM_FP & 8) == 0)
#else
#define DAVIT_TARGET_ARM_FLOAT 0
#define DAVIT_TARGET_ARM_DOUBLE 0
#define DAVIT_TARGET_FLOAT_ONLY 0
#endif
/// Cortex-M: pairs of products of 16 bits, saturation, and Helium's vectors, of integers and of float.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP
#define DAVIT_TARGET_ARM_DSP 1
#else
#define DAVIT_TARGET_ARM_DSP 0
#endif
#if defined(__ARM_FEATURE_SAT) && __ARM_FEATURE_SAT
#define DAVIT_TARGET_ARM_SATURATION 1
#else
#define DAVIT_TARGET_ARM_SATURATION 0
#endif
#if defined(__ARM_FEATURE_MVE)
#define DAVIT_TARGET_HELIUM 1
#define DAVIT_TARGET_HELIUM_INTEGER ((__ARM_FEATURE_MVE & 1) != 0)
#define DAVIT_TARGET_HELIUM_FLOAT ((__ARM_FEATURE_MVE & 2) != 0)
#else
#define DAVIT_TARGET_HELIUM 0
#define DAVIT_TARGET_HELIUM_INTEGER 0
#define DAVIT_TARGET_HELIUM_FLOAT 0
#endif

namespace davit {

static_assert(CHAR_BIT == 8 && sizeof(int) == 4 && sizeof(float) == 4 && sizeof(double) == 8,
              "davit needs bytes of 8 bits, int and float of 32, and double of 64: compile for another target");
static_assert(std::endian::native == std::endian::little,
              "davit needs a little-endian CPU: files, packages and weights are read as they lie in memory");

}  // namespace davit
