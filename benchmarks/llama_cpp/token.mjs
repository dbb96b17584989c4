// SPDX-License-Identifier: MIT
// Milliseconds of CPU time of a token of llama.cpp's models, behind 256 tokens: node token.mjs MODEL.gguf...
import {getLlama, LlamaLogLevel} from "node-llama-cpp";

const llama = await getLlama({gpu: false, build: "never", logLevel: LlamaLogLevel.error, maxThreads: 1});
const now = () => { const used = process.cpuUsage(); return (used.user + used.system) / 1000; };
for (const file of process.argv.slice(2)) {
  const model = await llama.loadModel({modelPath: file, gpuLayers: 0});
  const context = await model.createContext({contextSize: 1024, threads: 1, batchSize: 512});
  const sequence = context.getSequence();
  let start = now();
  await sequence.evaluateWithoutGeneratingNewTokens(Array.from({length: 256}, (_, i) => 300 + i));
  const prefill = now() - start;
  const times = [];
  for (let i = 0; i < 60; ++i) {
    start = now();
    await sequence.evaluateWithoutGeneratingNewTokens([600 + i]);
    times.push(now() - start);
  }
  times.sort((a, b) => a - b);
  console.log(`${file} cpu_ms=${times[30].toFixed(2)} prefill_256_cpu_ms=${prefill.toFixed(1)}`);
  await context.dispose();
  await model.dispose();
}
process.exit(0);
