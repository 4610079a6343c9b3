// From the text of a key to who is calling: form, keyed check, isolate memory, KV, D1. Laws: a made-up key costs no
// look-up, and an address gets few of them; a revoked key is refused at most 30 s after D1 says so, and at once when the meter said it; keys appear
// in no error and no log.

import type { Failure } from '../core/failure.ts'
import { err, type Result } from '../core/result.ts'
import { checkHolds, hashKey } from '../key/digest.client.ts'
import { parseKey } from '../key/format.ts'
import type { Identity } from '../key/identity.ts'
import { findKey, type KeyStoreEnv, keyFromD1, putKeyHint } from '../key/key-records.store.ts'
import { KeyMemory } from '../key/memory.ts'
import { admit, type Entry } from '../key/record.ts'
import { AddressGate } from './address-gate.ts'
import { type KeyPlace, presentedKey } from './presented-key.ts'

export interface KeyRingEnv extends KeyStoreEnv {
  readonly KEY_SECRET?: string
  /** `off` takes keys without the keyed check, such as imported ones. */
  readonly KEY_CHECK?: string
  /** `on`: `cf-connecting-ip` is set by the platform or a proxy of the operator, and not by the caller. */
  readonly TRUST_PROXY?: string
}

type WaitUntil = (work: Promise<unknown>) => void

const REVOKED_MAX = 10_000

/** One per isolate. */
export class KeyRing {
  readonly #memory = new KeyMemory()
  readonly #gate = new AddressGate()
  /** Hashes that the meter called revoked: memory and KV may not know it yet. */
  readonly #revoked = new Set<string>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => Date.now()) {
    this.#nowMs = nowMs
  }

  /** Who sends this request, if a key in one of `places` may enter. `path` is the segment after `/k/`, if any. */
  async authenticate(
    env: KeyRingEnv,
    request: Request,
    entry: Entry & { readonly places: readonly KeyPlace[]; readonly path?: string },
    waitUntil: WaitUntil,
  ): Promise<Result<Identity, Failure>> {
    const carriers = {
      authorization: request.headers.get('authorization'),
      query: entry.places.includes('query') ? new URL(request.url).searchParams.getAll('key') : [],
      path: entry.path ?? null,
    }
    const presented = presentedKey(carriers, entry.places)
    if (!presented.ok) return presented
    const address = env.TRUST_PROXY === 'on' ? request.headers.get('cf-connecting-ip') : null
    return this.identify(env, presented.value, entry, waitUntil, address)
  }

  /** Who a key belongs to, if it may enter. `address`: of the caller, null where it is not known for sure. */
  async identify(
    env: KeyRingEnv,
    key: string,
    entry: Entry,
    waitUntil: WaitUntil,
    address: string | null = null,
  ): Promise<Result<Identity, Failure>> {
    const now = this.#nowMs()
    let record = this.#memory.recall(key, now)
    if (record === undefined) {
      const parsed = parseKey(key)
      if (!parsed.ok) return err({ kind: 'key_malformed', hint: parsed.error })
      const retryAfterMs = this.#gate.waitMs(address, now)
      if (retryAfterMs > 0) return err({ kind: 'rate_limited', retryAfterMs })
      if (env.KEY_CHECK !== 'off') {
        if (!env.KEY_SECRET) return err({ kind: 'unavailable', what: 'KEY_SECRET is not set on this gateway' })
        if (!(await checkHolds(parsed.value, env.KEY_SECRET))) {
          return err({ kind: 'key_malformed', hint: 'The check characters of this API key do not match: is it whole?' })
        }
      }
      record = await findKey(env, await hashKey(key), waitUntil)
      this.#memory.keep(key, record, now)
    }
    if (record === null) return err({ kind: 'key_unknown' })
    if (this.#revoked.has(record.hash)) return err({ kind: 'key_revoked' })
    return admit(record, entry, now)
  }

  /** The meter called this key revoked: refused here from now on, and the hint in KV brought up to date. */
  revoked(env: KeyStoreEnv, keyHash: string, waitUntil: WaitUntil): void {
    if (this.#revoked.has(keyHash)) return
    if (this.#revoked.size >= REVOKED_MAX) {
      for (const oldest of this.#revoked) {
        this.#revoked.delete(oldest)
        break
      }
    }
    this.#revoked.add(keyHash)
    waitUntil(refreshHint(env, keyHash))
  }
}

async function refreshHint(env: KeyStoreEnv, keyHash: string): Promise<void> {
  const record = await keyFromD1(env.ACCOUNTS, keyHash)
  if (record?.revoked) await putKeyHint(env.KEYS, record)
}
