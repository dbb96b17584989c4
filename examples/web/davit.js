// SPDX-License-Identifier: MIT
// Loads packages that `davit lower` wrote and runs them, by davit.wasm (examples/web/build):
//   const { load } = await davit(await (await fetch("davit.wasm")).arrayBuffer());
//   const model = await load(new Uint8Array(await (await fetch("digits.davit")).arrayBuffer()));
//   const { scores } = model.run({ image: new Float32Array(64) });
// One size that the model leaves open follows from the number of elements; with more of them an input has its sizes beside it:
// { x: Object.assign(numbers, { sizes: [3, 64] }) }. Outputs are copies, Float32Arrays with `sizes`. A fault is an Error with a text.
const elements = (sizes) => sizes.reduce((product, size) => product * size, 1);

export const davit = async (wasm) => {
  const compiled = await WebAssembly.compile(wasm);
  // the C library's: there are no files, and none is needed
  const imports = {};
  for (const { module, name } of WebAssembly.Module.imports(compiled)) (imports[module] ??= {})[name] = () => 52;

  const load = async (bytes) => {
    const { exports: model } = await WebAssembly.instantiate(compiled, imports);
    model._initialize?.();
    const answer = (good) => {
      const memory = new Uint8Array(model.memory.buffer), from = model.json();
      const value = JSON.parse(new TextDecoder().decode(memory.slice(from, memory.indexOf(0, from))));
      if (!good) throw new Error(value);
      return value;
    };
    const room = (address) => {
      if (address === 0) throw new Error("there is no memory");
      return address;
    };
    const package_ = room(model.room(bytes.length)); // memory may have grown before it is seen
    new Uint8Array(model.memory.buffer).set(bytes, package_);
    const inputs = answer(model.load());

    const run = (values) => {
      const unknown = Object.keys(values).find((name) => !inputs.some((input) => input.name === name));
      if (unknown !== undefined) throw new Error(`there is no input '${unknown}': they are ${inputs.map(({ name }) => name).join(", ")}`);
      const given = inputs.map(({ name, sizes: expected }) => {
        const numbers = values[name];
        if (!(numbers instanceof Float32Array)) throw new Error(`input '${name}' is no Float32Array`);
        const shown = `[${expected.map((size) => size ?? "any")}]`;
        if (!numbers.sizes && expected.filter((size) => size === null).length > 1)
          throw new Error(`input '${name}' has several open sizes, ${shown}: give it 'sizes'`);
        const sizes = numbers.sizes ?? expected.map((size) => size ?? numbers.length / elements(expected.filter((other) => other !== null)));
        if (!sizes.every(Number.isInteger) || elements(sizes) !== numbers.length)
          throw new Error(`input '${name}' has ${numbers.length} numbers, which make no ${shown}`);
        return { numbers, sizes };
      });
      for (const { numbers, sizes } of given) {
        sizes.forEach((size) => model.size(size));
        const at = model.input();
        if (numbers.length !== 0) new Float32Array(model.memory.buffer).set(numbers, room(at) / 4);
      }
      const outputs = answer(model.run());
      const copy = ({ sizes, at }) => {
        return Object.assign(new Float32Array(model.memory.buffer, at, elements(sizes)).slice(), { sizes });
      };
      return Object.fromEntries(outputs.map((output) => [output.name, copy(output)]));
    };
    return { inputs, run };
  };
  return { load };
};
