// When a launch is ready: the gateway answers, the demo key opens it, and the feed has brought a book.

import { setTimeout as sleep } from 'node:timers/promises'
import { type DemoKeys, makeDemoKeys, payForLive, topUpDaily } from './demo-key.node.ts'

const POLL_MS = 100
/** Coin whose book stands for all; devnet always lists it. */
const PROBE_COIN = 'BTC'

/** Polls until everything stands; `waiting` hears what is missing when that changes. Ends only with `signal`. */
export async function becomeReady(
  url: string,
  adminToken: string,
  kept: DemoKeys | null,
  waiting: (what: string) => void,
  signal: AbortSignal,
): Promise<DemoKeys> {
  let keys = kept
  for (let last = ''; ; await sleep(POLL_MS, undefined, { signal })) {
    const missing = keys === null ? await makeKeys() : await probe(url, keys.key, signal)
    if (missing === null && keys !== null) {
      await topUpDaily(url, adminToken, signal)
      await payForLive(url, adminToken, signal).catch(() => waiting('the account of /live, which is not paid for'))
      return keys
    }
    if (missing === 'key') keys = null
    else if (missing !== null && missing !== last) waiting(missing)
    last = missing ?? last
  }

  async function makeKeys(): Promise<string | null> {
    const made = await makeDemoKeys(url, adminToken, signal)
    if (!made.ok) return made.error
    keys = made.value
    return 'the first book'
  }
}

/**
 * Null: a book is served; `key`: the key is not accepted; else what is missing. Asked for once the feed says that it has
 * books: every refusal before would stand on the account's page.
 */
async function probe(url: string, key: string, signal: AbortSignal): Promise<string | null> {
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(2_000)])
    const status = (await (await fetch(`${url}/status`, { signal: within })).json()) as { booksKnown?: boolean }
    if (status.booksKnown !== true) return 'the first book'
    const answer = await fetch(`${url}/info`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'l2BookDiffSnapshot', coin: PROBE_COIN }),
      signal: within,
    })
    const text = await answer.text()
    if (answer.status === 401) return 'key'
    // A drained demo account is a state of its own, not a failed start.
    if (answer.status === 402) return null
    return answer.status === 200 && text !== 'null' ? null : `the first book (HTTP ${answer.status})`
  } catch {
    signal.throwIfAborted()
    return 'the gateway'
  }
}
