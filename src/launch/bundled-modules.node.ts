// A folder that wrangler bundled a Worker into, as miniflare takes it: a script, and the binaries and texts that it imports.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Throws where the folder has no script. */
export function bundledModules(folder: string) {
  const names = readdirSync(folder)
  const script = names.find((name) => name.endsWith('.js'))
  if (script === undefined) throw new Error(`${folder} holds no bundle`)
  const path = join(folder, script)
  const imported = (ending: string, type: 'CompiledWasm' | 'Text') =>
    names.filter((name) => name.endsWith(ending)).map((name) => ({ type, path: join(folder, name) }))
  return {
    modulesRoot: folder,
    modules: [
      { type: 'ESModule' as const, path, contents: readFileSync(path, 'utf8') },
      ...imported('.wasm', 'CompiledWasm'),
      ...imported('.graphql', 'Text'),
    ],
  }
}
