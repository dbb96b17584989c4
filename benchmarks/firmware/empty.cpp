// SPDX-License-Identifier: MIT
// An image without a model, for its size: the start-up code and an empty main.
int main() { return 0; }
