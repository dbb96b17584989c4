/* SPDX-License-Identifier: MIT */
#ifndef DAVIT_C_DAVIT_H
#define DAVIT_C_DAVIT_H

/** @file
 * The C API of davit's run-time library, libdavit-c: loads packages that `davit lower` wrote, and runs them.
 *
 * Every function that can fail returns an error handle, NULL on success; free it with davit_error_free(). After an
 * error, results that are handles, pointers and counts are 0, and sessions are as before. A handle that is NULL, freed,
 * or of another type is the error DAVIT_INVALID_HANDLE. No C++ exception leaves the library. Text is UTF-8 that ends
 * with a zero byte. Programs may be used by several threads at once, a session by one thread at a time. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__ELF__)
#define DAVIT_C_API __attribute__((visibility("default")))
#else
#define DAVIT_C_API
#endif

/** A loaded program: immutable, shared by its sessions. */
typedef struct davit_program davit_program;
/** State and working memory of one user of a program. */
typedef struct davit_session davit_session;
/** An error: a code, and a sentence that names stage, place, cause and fix. */
typedef struct davit_error davit_error;

/** Codes of errors. The numbers never change; later versions may add codes. */
enum {
  DAVIT_OK = 0,
  DAVIT_INVALID_ARGUMENT = 1,     /**< the interface does not take the caller's argument */
  DAVIT_INVALID_PROGRAM = 2,      /**< the program breaks a rule of torch.export's verifier */
  DAVIT_INVALID_SHAPE = 3,        /**< sizes, strides or rank do not fit */
  DAVIT_INVALID_DTYPE = 4,        /**< the element type does not fit */
  DAVIT_OUT_OF_RANGE = 5,         /**< an index or a number is outside its range */
  DAVIT_UNSUPPORTED_OPERATOR = 6, /**< no backend of this library takes the operator */
  DAVIT_UNSUPPORTED_ARGUMENT = 7, /**< the operator or value is known, but not in this form */
  DAVIT_NOT_FOUND = 8,            /**< the name does not exist */
  DAVIT_NOT_AVAILABLE = 9,        /**< the backend is not in this library, or cannot run on this machine */
  DAVIT_CORRUPT_DATA = 10,        /**< the file is damaged or hostile */
  DAVIT_VERSION_MISMATCH = 11,    /**< the file is of another version, or no package */
  DAVIT_OUT_OF_MEMORY = 12,
  DAVIT_IO_ERROR = 13,
  DAVIT_ASSERTION_FAILED = 14, /**< an assertion in the model failed */
  DAVIT_FAILED = 15,           /**< another reason */
  DAVIT_CANCELLED = 16,        /**< the run was stopped, or its deadline passed */
  DAVIT_INVALID_HANDLE = 100   /**< the handle is NULL, freed, or of another type */
};

/** Element type of a tensor, as DLPack's DLDataType: code (enum below), bits of an element, and lanes, which are 1. */
typedef struct davit_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} davit_dtype;

/** Codes of element types: the numbers of DLPack's DLDataTypeCode. */
enum {
  DAVIT_DTYPE_INT = 0,     /**< 8, 16, 32 or 64 bits */
  DAVIT_DTYPE_UINT = 1,    /**< 8, 16, 32 or 64 bits */
  DAVIT_DTYPE_FLOAT = 2,   /**< 16, 32 or 64 bits */
  DAVIT_DTYPE_BFLOAT = 4,  /**< 16 bits */
  DAVIT_DTYPE_COMPLEX = 5, /**< 32, 64 or 128 bits */
  DAVIT_DTYPE_BOOL = 6,    /**< 8 bits: 0 or 1 */
  DAVIT_DTYPE_FLOAT8_E4M3FN = 10,
  DAVIT_DTYPE_FLOAT8_E4M3FNUZ = 11,
  DAVIT_DTYPE_FLOAT8_E5M2 = 12,
  DAVIT_DTYPE_FLOAT8_E5M2FNUZ = 13,
  DAVIT_DTYPE_FLOAT8_E8M0FNU = 14
};

/** A view of a tensor in the memory of the CPU. */
typedef struct davit_tensor {
  void* data; /**< the element with all indices zero, aligned to the element's size (at most 8 bytes) */
  davit_dtype dtype;
  int32_t rank;           /**< 0 to 16 */
  const int64_t* sizes;   /**< `rank` numbers */
  const int64_t* strides; /**< `rank` numbers, in elements, as in DLPack; NULL: row-major */
} davit_tensor;

/** Kinds of values. */
enum {
  DAVIT_NONE = 0, /**< Python's None */
  DAVIT_TENSOR = 1,
  DAVIT_INT = 2,
  DAVIT_FLOAT = 3,
  DAVIT_BOOL = 4,
  DAVIT_STRING = 5
};

/** Text of `size` bytes. As an output it does not end with a zero byte. */
typedef struct davit_string {
  const char* data;
  size_t size;
} davit_string;

/** An input or output: `kind` says which member of `as` holds it. */
typedef struct davit_value {
  int32_t kind; /**< DAVIT_NONE to DAVIT_STRING */
  union {
    davit_tensor tensor;
    int64_t integer;
    double number;
    int32_t boolean; /**< 0: false; another number: true */
    davit_string string;
  } as;
} davit_value;

/** Describes an input or output of a method. Its pointers are valid until the program is freed. */
typedef struct davit_port {
  const char* name;     /**< the argument's name; of an output, its key in a dict that forward() returns, or its name */
  int32_t kind;         /**< DAVIT_NONE to DAVIT_STRING */
  davit_dtype dtype;    /**< of a tensor */
  int32_t rank;         /**< of a tensor */
  const int64_t* sizes; /**< of a tensor: `rank` numbers, -1 for a dynamic size */
  int32_t is_fixed;     /**< 1: fixed at export; the last inputs may be omitted if they are all fixed */
} davit_port;

/** @name The library
 * @{ */
/** Returns the library's version, "0.1.0". */
DAVIT_C_API const char* davit_version(void);
/** Returns the backends that the library was built with, by preference: "onednn, portable". */
DAVIT_C_API const char* davit_backends(void);
/** Sets the number of threads, at least 1, for programs that are loaded from now on. The default is 1. */
DAVIT_C_API void davit_set_threads(uint32_t threads);
/** @} */

/** @name Errors
 * @{ */
/** Returns the error's code; DAVIT_OK for NULL, DAVIT_INVALID_HANDLE for what is no error. */
DAVIT_C_API int32_t davit_error_code(const davit_error* error);
/** Returns the error's text, valid until the error is freed; "" for NULL. */
DAVIT_C_API const char* davit_error_text(const davit_error* error);
DAVIT_C_API void davit_error_free(davit_error* error); /**< does nothing for NULL and for what is no error */
/** @} */

/** @name Programs
 * @{ */
/** Loads a package from a file, which is mapped: it must not change while the program or a session of it lives.
 * Errors: as davit::formats::load_program. O(size). */
DAVIT_C_API davit_error* davit_program_load(const char* path, davit_program** program);
/** Loads a package from bytes, which are copied. Errors: as davit_program_load. */
DAVIT_C_API davit_error* davit_program_load_bytes(const void* data, size_t size, davit_program** program);
/** Frees a program; its sessions stay valid. Does nothing for NULL and for what is no program. */
DAVIT_C_API void davit_program_free(davit_program* program);

DAVIT_C_API davit_error* davit_program_method_count(const davit_program* program, size_t* count);
/** Returns the name of a method, valid until the program is freed. Errors: DAVIT_OUT_OF_RANGE. */
DAVIT_C_API davit_error* davit_program_method_name(const davit_program* program, size_t method, const char** name);
/** Returns the index of a method. Errors: DAVIT_NOT_FOUND, with the names of all methods. */
DAVIT_C_API davit_error* davit_program_find_method(const davit_program* program, const char* name, size_t* method);
DAVIT_C_API davit_error* davit_program_input_count(const davit_program* program, size_t method, size_t* count);
DAVIT_C_API davit_error* davit_program_input(const davit_program* program, size_t method, size_t index,
                                             davit_port* input);
DAVIT_C_API davit_error* davit_program_output_count(const davit_program* program, size_t method, size_t* count);
DAVIT_C_API davit_error* davit_program_output(const davit_program* program, size_t method, size_t index,
                                              davit_port* output);
/** @} */

/** @name Sessions
 * @{ */
/** Makes a session with the state that the program was saved with. Errors: DAVIT_OUT_OF_MEMORY. */
DAVIT_C_API davit_error* davit_session_make(const davit_program* program, davit_session** session);
/** Frees a session; its outputs end. Does nothing for NULL and for what is no session. */
DAVIT_C_API void davit_session_free(davit_session* session);

/** Runs a method on its inputs by position; nothing is copied. Inputs fixed at export may be omitted at the end.
 *
 * Errors: DAVIT_INVALID_ARGUMENT, DAVIT_INVALID_DTYPE, DAVIT_INVALID_SHAPE for inputs that do not fit, before anything
 * runs; those of davit::Session::run. After an error the session has no outputs, and its state is as before. */
DAVIT_C_API davit_error* davit_session_run(davit_session* session, size_t method, const davit_value* inputs,
                                           size_t input_count);
/** Returns the number of values that the last run returned. Errors: DAVIT_INVALID_ARGUMENT if there was none. */
DAVIT_C_API davit_error* davit_session_output_count(const davit_session* session, size_t* count);
/** Returns an output of the last run: a view that is valid until the session's next run or its end; an output that is
 * an input, only as long as that. Errors: DAVIT_OUT_OF_RANGE; DAVIT_INVALID_ARGUMENT if there was no run. */
DAVIT_C_API davit_error* davit_session_output(const davit_session* session, size_t index, davit_value* output);

/** Ends the run under way, and later ones, with DAVIT_CANCELLED, until davit_session_clear_cancel. Another thread may
 * call it while the session runs; the run ends before its next node, with the state as before. */
DAVIT_C_API davit_error* davit_session_cancel(const davit_session* session);
/** Lets the session run again after davit_session_cancel. */
DAVIT_C_API davit_error* davit_session_clear_cancel(const davit_session* session);
/** Sets the time at which runs end with DAVIT_CANCELLED: this many nanoseconds from now on. Each later call replaces
 * it; a negative number removes it. */
DAVIT_C_API davit_error* davit_session_set_deadline(davit_session* session, int64_t nanoseconds);

/** Makes a second session with a copy of the state, as davit::Session::fork: buffers are copied when one of both writes
 * them. The fork has no outputs and no deadline, and is not cancelled. Errors: DAVIT_OUT_OF_MEMORY. */
DAVIT_C_API davit_error* davit_session_fork(const davit_session* session, davit_session** fork);
/** Sets a buffer that counts (the length of a cache) to an earlier value, as davit::Session::rewind. Outputs end.
 * Errors: DAVIT_NOT_FOUND, DAVIT_INVALID_DTYPE, DAVIT_OUT_OF_RANGE. */
DAVIT_C_API davit_error* davit_session_rewind(davit_session* session, const char* counter, int64_t length);

/** Resets the state to its initial values. Outputs end. O(bytes of state). Errors: DAVIT_OUT_OF_MEMORY. */
DAVIT_C_API davit_error* davit_session_reset(davit_session* session);
/** Saves the state to a file, as davit::formats::save_state. Errors: DAVIT_IO_ERROR. */
DAVIT_C_API davit_error* davit_session_save_state(const davit_session* session, const char* path);
/** Loads the state from a file of davit_session_save_state, or a package. Outputs end. Errors: as
 * davit::formats::load_state. */
DAVIT_C_API davit_error* davit_session_load_state(davit_session* session, const char* path);
/** Saves the state to bytes that the session holds until the next call of this function. */
DAVIT_C_API davit_error* davit_session_state_bytes(davit_session* session, const void** data, size_t* size);
/** Loads the state from bytes. Outputs end. Errors: as davit_session_load_state. */
DAVIT_C_API davit_error* davit_session_load_state_bytes(davit_session* session, const void* data, size_t size);
/** @} */

#ifdef __cplusplus
}
#endif

#endif
