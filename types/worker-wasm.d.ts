// A binary that is bundled with a Worker, as its import gives it: compiled.
declare module '*.wasm' {
  const module: WebAssembly.Module
  export default module
}
