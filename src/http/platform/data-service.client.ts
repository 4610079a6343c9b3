// Data services of other chains: `GET <dataUrl>/v1/<chain>/…`, asked with the operator's own key.

import { readBoundedText } from '../../core/bounded-text.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { DEFAULT_REST_MS, restMsOf } from '../../upstream/outcome.ts'
import type { Platform } from './platform-api.ts'
import { badField } from './refusal.ts'

const BODY_MAX_BYTES = 4 * 1024 * 1024

interface Configured {
  readonly name: string
  readonly dataUrl?: string | undefined
  readonly timeoutMs: number
}

const away = (chain: string, retryAfterMs = DEFAULT_REST_MS): Failure => ({
  kind: 'unavailable',
  what: `The data service of ${chain} cannot be asked now`,
  retryAfterMs,
})

export function dataServices(chains: readonly Configured[]): Platform['dataService'] {
  return (name, path) => {
    const chain = chains.find((each) => each.name === name)
    return chain?.dataUrl === undefined ? null : ask(chain.dataUrl, chain, path)
  }
}

async function ask(dataUrl: string, { name, timeoutMs }: Configured, path: string): Promise<Result<string, Failure>> {
  try {
    const { username, password, origin, pathname } = new URL(dataUrl)
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    const authorization = username === '' ? {} : { authorization: `Basic ${btoa(user)}` }
    const url = `${origin}${pathname.replace(/\/$/, '')}/v1/${name}/${path}`
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { headers: authorization, redirect: 'manual', signal })
    const read = await readBoundedText(response.body, BODY_MAX_BYTES)
    if (response.status === 400) return err(badField('', 'the data service of this chain does not accept these values'))
    if (response.status === 404) return err({ kind: 'not_found', what: 'This wallet, or this answer of its chain' })
    const restMs = restMsOf(response.headers.get('retry-after'), Date.now())
    if (response.status !== 200 || !('text' in read)) return err(away(name, restMs ?? undefined))
    const value = JSON.parse(read.text) as { readonly data?: unknown; readonly error?: unknown } | null
    // Whatever is in it: an envelope it must be, and one that tells of no failure.
    return (value?.data ?? null) === null || value?.error === true ? err(away(name)) : ok(read.text)
  } catch {
    return err(away(name))
  }
}
