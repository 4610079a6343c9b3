// The command line of `npm run watch`: what it may say and what that means.

import { err, ok, type Result } from '../core/result.ts'

const text = { type: 'string' } as const
export const WATCH_ARGS = { url: text, key: text, state: text }
export const WATCH_USAGE =
  'Say "npm run watch -- BTC", with more coins if you like; options: --url URL, --key KEY, --state DIR.'

export interface WatchOptions {
  readonly coins: readonly string[]
  readonly url: string | null
  readonly key: string | null
  readonly state: string | null
}

const COINS_MAX = 20

/** Judges the arguments; an error is one sentence. */
export function watchOptions(
  { url, key, state }: { readonly [name in keyof typeof WATCH_ARGS]?: string | undefined },
  words: readonly string[],
): Result<WatchOptions, string> {
  const coins = [...new Set(words)]
  if (coins.length === 0) return err('Which coin?')
  if (coins.length > COINS_MAX) return err(`At most ${COINS_MAX} coins at a time.`)
  if (url !== undefined && !/^https?:\/\/[^\s/]+\/?$/.test(url))
    return err(`--url is ${JSON.stringify(url)}; it must look like http://127.0.0.1:8787.`)
  return ok({ coins, url: url ?? null, key: key ?? null, state: state ?? null })
}
