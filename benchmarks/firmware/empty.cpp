// SPDX-License-Identifier: MIT
// What an image costs without a model: the start-up and an empty main.
int main() { return 0; }
