// The command line of `npm run watch`.

import { err, ok, type Result } from '../core/result.ts'

export interface WatchOptions {
  readonly coins: readonly string[]
  readonly url: string | null
  readonly key: string | null
  readonly state: string | null
}

const COINS_MAX = 20
const USAGE = 'Say "npm run watch -- BTC", with more coins if you like; options: --url URL, --key KEY, --state DIR.'

/** Reads the arguments; an error is one sentence. */
export function parseWatchArgs(args: readonly string[]): Result<WatchOptions, string> {
  const named: Record<string, string | null> = { '--url': null, '--key': null, '--state': null }
  const coins = new Set<string>()
  for (let i = 0; i < args.length; i++) {
    const name = args[i]!
    if (name in named) {
      const value = args[++i]
      if (!value) return err(`${name} needs a value. ${USAGE}`)
      named[name] = value
    } else if (name.startsWith('--')) return err(`Unknown option ${JSON.stringify(name)}. ${USAGE}`)
    else coins.add(name)
  }
  if (coins.size === 0) return err(`Which coin? ${USAGE}`)
  if (coins.size > COINS_MAX) return err(`At most ${COINS_MAX} coins at a time.`)
  const url = named['--url'] ?? null
  if (url !== null && !/^https?:\/\/[^\s/]+\/?$/.test(url))
    return err(`--url is ${JSON.stringify(url)}; it must look like http://127.0.0.1:8787.`)
  return ok({ coins: [...coins], url, key: named['--key'] ?? null, state: named['--state'] ?? null })
}
