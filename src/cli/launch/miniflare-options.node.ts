// Options shared by every Miniflare of a gateway, and the modules of a bundle.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { Log, LogLevel } from 'miniflare'

export type WriteLine = (line: string) => void

const toStandardError: WriteLine = (line) => void process.stderr.write(`${line}\n`)

/** Miniflare prints to standard output, which is for results, and may be closed by its reader. */
class LineLog extends Log {
  readonly #write: WriteLine

  constructor(write: WriteLine) {
    super(LogLevel.WARN)
    this.#write = write
  }

  protected override log(message: string): void {
    this.#write(stripVTControlCharacters(message))
  }
}

/** `write` receives the lines of miniflare's own log. Default: standard error. */
export function commonOptions(state: string, write = toStandardError) {
  return {
    // wrangler appends `v3` to --persist-to, so its d1 and kv commands use the same data.
    resourcePersistencePath: join(state, 'v3'),
    cf: false,
    telemetry: { enabled: false },
    log: new LineLog(write),
  } as const
}

/** The modules in a bundle folder of wrangler: a script, binaries and text files. Throws if there is no script. */
export function bundledModules(folder: string) {
  const names = readdirSync(folder)
  const script = names.find((name) => name.endsWith('.js'))
  if (script === undefined) throw new Error(`${folder} has no bundle`)
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
