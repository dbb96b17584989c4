// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "davit/ops/operator_facts.hpp"
#include "davit/ops/operator_row.hpp"

namespace davit::operator_families {

using namespace std::string_view_literals;

/// Recurrent layers and their cells.
inline constexpr OperatorRow recurrent[] = {
    // clang-format off
    {.schema = "aten.gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
               "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"sv,
     .rule = R"(aten.gru.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
       $rnn('gru', input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first))"sv},
    {.rule = R"(aten.gru_cell.default(input, hx, w_ih, w_hh, b_ih=none, b_hh=none):
       $rnn_step('gru', [hx], linear(input, w_ih, b_ih), w_hh, b_hh, none)[0])"sv},
    {.schema = "aten.lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, "
               "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)"sv,
     .rule = R"(aten.lstm.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
       $rnn('lstm', input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first))"sv},
    {.rule = R"(aten.lstm_cell.default(input, hx, w_ih, w_hh, b_ih=none, b_hh=none):
       $rnn_step('lstm', hx, linear(input, w_ih, b_ih), w_hh, b_hh, none))"sv},
    {.schema = "aten.rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
               "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"sv,
     .rule = R"(aten.rnn_relu.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
           batch_first):
       $rnn('relu', input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first))"sv},
    {.rule = R"(aten.rnn_relu_cell.default(input, hx, w_ih, w_hh, b_ih=none, b_hh=none):
       $rnn_step('relu', [hx], linear(input, w_ih, b_ih), w_hh, b_hh, none)[0])"sv},
    {.schema = "aten.rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
               "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"sv,
     .rule = R"(aten.rnn_tanh.input(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
           batch_first):
       $rnn('tanh', input, [hx], params, has_biases, num_layers, dropout, train, bidirectional, batch_first))"sv},
    {.rule = R"(aten.rnn_tanh_cell.default(input, hx, w_ih, w_hh, b_ih=none, b_hh=none):
       $rnn_step('tanh', [hx], linear(input, w_ih, b_ih), w_hh, b_hh, none)[0])"sv},

    // shared sub-rules
    {.rule = R"($gru(h, m, g, k):
       r = sigmoid(narrow(g, -1, 0, k) + narrow(m, -1, 0, k));
       z = sigmoid(narrow(g, -1, k, k) + narrow(m, -1, k, k));
       n = tanh(narrow(g, -1, 2 * k, k) + narrow(m, -1, 2 * k, k) * r);
       [(h - n) * z + n])"sv},
    {.rule = R"($lstm(s, n, k, r):
       c = sigmoid(narrow(n, -1, k, k)) * s[1] + sigmoid(narrow(n, -1, 0, k)) * tanh(narrow(n, -1, 2 * k, k));
       h = sigmoid(narrow(n, -1, 3 * k, k)) * tanh(c);
       [r == none ? h : linear(h, r), c])"sv},
    {.rule = R"($rnn(kind, input, s, p, biases, layers, dropout, train, both, first):
       x = first ? transpose.int(input, 0, 1) : input;
       proj = len(s) == 2 && size(s[0], 2) != size(s[1], 2);
       r = layers == 1 && both == false ? $rnn_run(kind, x, s, $rnn_params(p, biases, proj)) :
         train && dropout != 0 && layers > 1 ? fail(0) :
         $rnn_stack(fold(a: [x, []]; l in range(0, layers):
           $rnn_layer(kind, a, s, p, l * (both ? 2 : 1), both, biases, (biases ? 4 : 2) + (proj ? 1 : 0))), len(s));
       [first ? transpose.int(r[0], 0, 1) : r[0]] + r[1])"sv},
    {.rule = R"($rnn_both(a, f, b): [cat([f[0], flip(b[0], [0])], 2), a[1] + [f[1:], b[1:]]])"sv},
    {.rule = R"($rnn_layer(kind, a, s, p, i, both, biases, n):
       f = $rnn_part(kind, a[0], [h in s: slice.Tensor(h, 0, i, i + 1)], p[i * n:i * n + n], biases);
       both ? $rnn_both(a, f, $rnn_part(kind, flip(a[0], [0]), [h in s: slice.Tensor(h, 0, i + 1, i + 2)],
           p[i * n + n:i * n + 2 * n], biases)) :
         [f[0], a[1] + [f[1:]]])"sv},
    {.rule = R"($rnn_params(o, biases, proj):
       n = (biases ? 4 : 2) + (proj ? 1 : 0);
       [o[0], o[1], biases ? o[2] : none, biases ? o[3] : none, proj ? o[n - 1] : none])"sv},
    {.rule = R"($rnn_part(kind, x, s, p, biases):
       h = sizes(s[0]);
       y = [size(x, 0), size(x, 1), h[2]];
       kind == 'lstm' ? lstm.input(x, s, p, biases, 1, 0.0, false, false, false, sizes=[y, h, sizes(s[1])],
           as=dtype(x)) :
         kind == 'gru' ? gru.input(x, s[0], p, biases, 1, 0.0, false, false, false, sizes=[y, h], as=dtype(x)) :
         kind == 'tanh' ? rnn_tanh.input(x, s[0], p, biases, 1, 0.0, false, false, false, sizes=[y, h], as=dtype(x)) :
         rnn_relu.input(x, s[0], p, biases, 1, 0.0, false, false, false, sizes=[y, h], as=dtype(x)))"sv},
    {.rule = R"($rnn_run(kind, x, s, p):
       g = linear(x, p[0], p[2]);
       r = scan(a: s; i in range(0, size(x, 0)): $rnn_step(kind, a, select.int(g, 0, i), p[1], p[3], p[4]));
       [cat([t in r: t[0]], 0), r[-1]])"sv},
    {.rule = R"($rnn_stack(r, n): [r[0], [k in range(0, n): cat([t in r[1]: t[k]], 0)]])"sv},
    {.rule = R"($rnn_step(kind, s, g, w, b, r):
       kind == 'lstm' ? $lstm(s, linear(s[0], w, b) + g, size(s[1], -1), r) :
         kind == 'gru' ? $gru(s[0], linear(s[0], w, b), g, size(s[0], -1)) :
         kind == 'tanh' ? [tanh(linear(s[0], w, b) + g)] :
         [relu(linear(s[0], w, b) + g)])"sv},
    // clang-format on
};

/// Facts that hold for all overloads.
inline constexpr OperatorFacts recurrent_facts[] = {
    // clang-format off
    {.name = "aten.gru"sv, .keeps_nonfinite = true},
    {.name = "aten.lstm"sv, .keeps_nonfinite = true},
    {.name = "aten.mkldnn_rnn_layer"sv, .autocast = AutocastPolicy::lower},
    {.name = "aten.rnn_relu"sv, .keeps_nonfinite = true},
    {.name = "aten.rnn_tanh"sv, .keeps_nonfinite = true},
    // clang-format on
};

}  // namespace davit::operator_families
