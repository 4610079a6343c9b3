// How every Miniflare of a gateway is set up, and what it is handed of a Worker.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Log, LogLevel } from 'miniflare'

export function commonOptions(state: string) {
  return {
    // `v3` is what wrangler appends to --persist-to: its d1 and kv commands then see the same data.
    resourcePersistencePath: join(state, 'v3'),
    cf: false,
    telemetry: { enabled: false },
    log: new Log(LogLevel.WARN),
  } as const
}

/** A folder that wrangler bundled a Worker into: a script, and the binaries and texts that it imports. Throws without a script. */
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
