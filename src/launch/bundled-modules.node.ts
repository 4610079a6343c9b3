// A folder that wrangler bundled a Worker into, as miniflare takes it: a script, and the binaries that it imports.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Throws where the folder has no script. */
export function bundledModules(folder: string) {
  const names = readdirSync(folder)
  const script = names.find((name) => name.endsWith('.js'))
  if (script === undefined) throw new Error(`${folder} holds no bundle`)
  const path = join(folder, script)
  const binaries = names.filter((name) => name.endsWith('.wasm'))
  return {
    modulesRoot: folder,
    modules: [
      { type: 'ESModule' as const, path, contents: readFileSync(path, 'utf8') },
      ...binaries.map((name) => ({ type: 'CompiledWasm' as const, path: join(folder, name) })),
    ],
  }
}
