// Evaluates the module named by its argument as a Worker that starts, and prints the CPU time of the main thread in ms.

import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

const PLATFORM = `data:text/javascript,
  export class DurableObject {};
  export class WorkerEntrypoint {};
  export const connect = () => {};
  export const waitUntil = () => {};
`
const FILE = 'data:text/javascript,export default ""'

registerHooks({
  resolve: (specifier, context, next) => {
    const url = specifier.startsWith('cloudflare:') ? PLATFORM : /\.(?:graphql|wasm)$/.test(specifier) ? FILE : null
    return url === null ? next(specifier, context) : { url, shortCircuit: true }
  },
})

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
// Modules of the platform are no work of the Worker.
await import('node:zlib')
await import(PLATFORM)
const before = cpuMs()
await import(pathToFileURL(process.argv[2] ?? '').href)
console.log(cpuMs() - before)
