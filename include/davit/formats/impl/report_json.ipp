// SPDX-License-Identifier: MIT
#pragma once

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "davit/backend/debug_handles.hpp"
#include "davit/formats/chrome_trace.hpp"
#include "davit/formats/report_json.hpp"
#include "davit/program/python_repr.hpp"

namespace davit::formats {

namespace detail {

[[nodiscard]] std::string valid_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = davit::detail::first_utf8(text).length;
    out += size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

class ReportWriter {
 public:
  [[nodiscard]] std::string write(std::string_view title, std::span<const PartitionReport> reports) && {
    object([&] {
      member("davit_report", std::uint64_t{1});
      member("title", title);
      list("methods", reports, [&](const PartitionReport& report) { method(report); });
    });
    return {buffer_.GetString(), buffer_.GetSize()};
  }

 private:
  void method(const PartitionReport& report) {
    member("method", report.method);
    list("partitions", report.partitions, [&](const PartitionReport::Partition& p) {
      member("tag", p.tag);
      member("backend", p.backend);
      member("nodes", p.nodes);
      member("inputs", p.inputs);
      member("outputs", p.outputs);
      member("constant_bytes", p.constant_bytes);
      known("ns", p.ns, UINT64_MAX);
    });
    nodes(report);
    list("weights", report.weights, [&](const PartitionReport::Weight& w) {
      member("target", w.target);
      member("type", w.type);
      member("bytes", w.bytes);
      number("least", w.least);
      number("most", w.most);
    });
    member("sizes", report.sizes);
    list("constants", report.constants, [&](const PartitionReport::Constant& c) {
      member("target", c.target);
      member("fate", c.fate);
      member("partitions", c.partitions);
      member("bytes", c.bytes);
    });
    list("refusals", report.refusals, [&](const PartitionReport::Refusal& r) {
      member("node", r.node);
      member("target", r.target);
      member("backend", r.backend);
      member("reason", r.reason);
    });
    list("candidates", report.candidates, [&](const CostCandidate& c) {
      member("what", c.what);
      member("candidate", c.candidate);
      member("partitions", c.partitions);
      known("ns", c.ns, UINT64_MAX);
      key("chosen");
      json_.Bool(c.chosen);
    });
    key("graph");
    object([&] { graph(report.graph); });
    key("memory");
    object([&] { memory(report.memory); });
  }
  void nodes(const PartitionReport& report) {
    std::unordered_map<std::string_view, std::unordered_map<std::string_view, std::size_t>>
        rows;  // by (stack trace, modules)
    std::vector<const PartitionReport::Place*> places;
    list("nodes", report.nodes, [&](const PartitionReport::Node& node) {
      member("name", node.name);
      member("target", node.target);
      member("type", node.type);
      known("partition", node.partition, no_id);
      std::size_t row = SIZE_MAX;
      if (node.place < report.places.size()) {
        const PartitionReport::Place& place = report.places[node.place];
        const auto [at, fresh] =
            rows[place.stack_trace.view()].try_emplace(place.nn_module_stack.view(), places.size());
        if (fresh) places.push_back(&place);
        row = at->second;
      }
      known("place", row, SIZE_MAX);
      numbers("inputs", node.inputs);
      known("ns", node.ns, UINT64_MAX);
      if (node.attributes.empty()) return;
      list("attributes", node.attributes, [&](const PartitionReport::Attribute& a) {
        member("name", a.name);
        if (a.weight == no_id) member("value", a.value);
        if (a.weight != no_id) member("weight", a.weight);
        if (!a.is_default) return;
        key("default");
        json_.Bool(true);
      });
    });
    list("places", places, [&](const PartitionReport::Place* place) {
      member("source", source_location(place->stack_trace));
      member("stack_trace", place->stack_trace);
      member("modules", module_hierarchy(place->nn_module_stack));
    });
  }
  void graph(const PartitionedGraph& graph) {
    list("boxes", graph.boxes, [&](const PartitionedGraph::Box& box) {
      constexpr const char* kinds[] = {"inputs", "outputs", "partition", "control_flow"};
      member("kind", std::string_view(kinds[static_cast<std::size_t>(box.kind)]));
      member("graph", box.graph);
      member("label", box.label);
      member("detail", box.detail);
      known("partition", box.partition, no_id);
      numbers("graphs", box.graphs);
    });
    list("edges", graph.edges, [&](const PartitionedGraph::Edge& edge) {
      member("from", edge.from);
      member("to", edge.to);
      member("value", edge.value);
      member("type", edge.type);
      member("bytes", edge.bytes);
    });
    list("graphs", graph.graphs, [&](const PartitionedGraph::Block& block) {
      member("name", block.name);
      numbers("boxes", block.boxes);
      numbers("edges", block.edges);
    });
  }
  void memory(const PartitionReport::Memory& memory) {
    member("arena_bytes", memory.arena_bytes);
    member("total_bytes", memory.total_bytes);
    member("ticks", memory.ticks);
    member("sizes", memory.sizes);
    list("blocks", memory.blocks, [&](const PartitionReport::Block& block) {
      member("what", block.what);
      known("partition", block.partition, no_id);
      key("scratch");
      json_.Bool(block.scratch);
      member("offset", block.offset);
      member("bytes", block.bytes);
      member("first", block.first);
      member("last", block.last);
    });
  }

  void key(const char* name) { json_.Key(name); }
  void member(const char* name, std::uint64_t number) {
    key(name);
    json_.Uint64(number);
  }
  void member(const char* name, std::string_view text) {
    key(name);
    const std::string valid = valid_utf8(text);
    json_.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
  }
  /// A number, or null for one that JSON has not.
  void number(const char* name, double number) {
    key(name);
    if (std::isfinite(number)) json_.Double(number);
    if (!std::isfinite(number)) json_.Null();
  }
  void known(const char* name, std::uint64_t number, std::uint64_t unknown) {
    if (number != unknown) return member(name, number);
    key(name);
    json_.Null();
  }
  void numbers(const char* name, const std::vector<std::uint32_t>& values) {
    key(name);
    json_.StartArray();
    for (const std::uint32_t value : values) json_.Uint(value);
    json_.EndArray();
  }
  template <class Members>
  void object(Members&& members) {
    json_.StartObject();
    members();
    json_.EndObject();
  }
  template <class Rows, class Members>
  void list(const char* name, const Rows& rows, Members&& members) {
    key(name);
    json_.StartArray();
    for (const auto& row : rows) object([&] { members(row); });
    json_.EndArray();
  }

  rapidjson::StringBuffer buffer_;
  rapidjson::Writer<rapidjson::StringBuffer> json_{buffer_};
};

}  // namespace detail

std::string report_json(std::string_view title, std::span<const PartitionReport> reports) {
  return detail::ReportWriter().write(title, reports);
}

}  // namespace davit::formats
