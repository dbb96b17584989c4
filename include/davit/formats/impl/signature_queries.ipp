// SPDX-License-Identifier: MIT
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string>

#include "davit/formats/signature_queries.hpp"
#include "davit/formats/signature_queries_json.hpp"

namespace davit::formats {

Result<std::string> signature_queries_json(const ExportGraphSignature& signature) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  const Result<void> written = write_signature_queries(writer, signature);
  if (!written) return error_of(written);
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace davit::formats
