// From the text of a key to who is calling: isolate memory, form, keyed check, KV, D1. Invariants: a made-up key costs no
// look-up, an address gets few of them, and a key one at a time; a key that was known just now is not held up by
// others of its address; a key that the meter called revoked is refused at once, and a record that it called changed is
// read from D1 again, whatever KV says; keys appear in no error and no log.

import { BoundedMap } from '../core/bounded-map.ts'
import { orFallback } from '../core/deadline.ts'
import { type Failure, KEY_ENDED } from '../core/failure.ts'
import type { KeyHash } from '../core/ids.ts'
import { err, ok, type Result } from '../core/result.ts'
import { SingleFlights } from '../core/single-flight.ts'
import { after } from '../core/timers.client.ts'
import type { WaitUntil } from '../core/wait-until.ts'
import {
  AddressLimiter,
  callerAddress,
  isWithinLocation,
  KEY_LOOKUPS,
  LOCATION_PERIOD_MS,
  type LocationLimit,
} from './address-limiter.ts'
import { hashKey, isCheckValid } from './digest.client.ts'
import { type ParsedKey, parseKey } from './format.ts'
import type { Identity } from './identity.ts'
import { KeyCache } from './key-cache.ts'
import { admit, type KeyRecord, type KeyRequirement, withDataAccess } from './key-record.ts'
import { findKey, type KeyStoreEnv, keyFromD1, putKeyHint } from './key-records.store.ts'
import { type KeyLocation, missingKey, presentedKey } from './presented-key.ts'
import { openStreamToken } from './stream-token.client.ts'
import { narrowIdentity, TOKEN_PREFIX } from './stream-token.ts'

export interface KeyResolverEnv extends KeyStoreEnv {
  readonly KEY_SECRET?: string
  /** As the gateway's variables have them, parsed. */
  readonly KEY_CHECK: boolean
  readonly TRUST_PROXY: boolean
  readonly LOOK_UP_LIMIT?: LocationLimit
}

/** A key or token that has to be asked about. */
interface KeyLookup {
  readonly env: KeyResolverEnv
  readonly key: string
  readonly entry: KeyRequirement
  readonly waitUntil: WaitUntil
  /** Of the caller, null where it is not known for sure. */
  readonly address: string | null
  readonly now: number
}

type LookupResult = Result<KeyRecord | null, Failure>
type IdentityResult = Result<Identity, Failure>

export const NO_KEY_SECRET: Failure = {
  kind: 'unavailable',
  what: 'KEY_SECRET',
  hint: 'KEY_SECRET is not set on this gateway: its operator has to set it.',
}

const KEYS_UNAVAILABLE: Failure = { kind: 'unavailable', what: 'API keys cannot be looked up now' }

const TOKEN_NOT_ACCEPTED =
  'This is a stream token (cqe_), which opens /ws and some types of /info alone: send an API key here.'

const CHECK_MISMATCH =
  'The check characters of this API key do not match: is it whole, and was it made for this gateway?'

/** A look-up that others wait for may be lost with the request that began it. */
const LOOKUP_MAX_MS = 3_000
const LOOKUPS_MAX = 1_000
/** Of revoked and of changed keys that an isolate remembers. */
const NOTICES_MAX = 10_000
/** How far apart the clocks of those who read and change records may be. */
const SKEW_MS = 5_000

/** One per isolate. */
export class KeyResolver {
  readonly #cache = new KeyCache()
  /** By hash: apart from keys, or whoever reads the hash in a token could send that as the key. */
  readonly #tokenKeys = new KeyCache()
  readonly #limiter = new AddressLimiter(KEY_LOOKUPS)
  readonly #lookups = new SingleFlights<LookupResult>(LOOKUP_MAX_MS, LOOKUPS_MAX)
  /** Hashes that the meter called revoked: memory and KV may not know it yet. */
  readonly #revoked = new BoundedMap<string, true>(NOTICES_MAX)
  /** Keys whose records the meter called changed, and from when on a record is new enough. */
  readonly #changed = new BoundedMap<string, { readonly changedMs: number; newEnoughMs: number }>(NOTICES_MAX)
  readonly #nowMs: () => number
  readonly #report: (error: unknown) => void

  /** `report`: D1 failed; the caller is told that keys cannot be looked up. */
  constructor(nowMs: () => number = () => Date.now(), report: (error: unknown) => void = () => {}) {
    this.#nowMs = nowMs
    this.#report = report
  }

  /** Who sends this request, if a key in one of `places` may enter. `path` is the segment after `/k/`, if any. */
  authenticate(
    env: KeyResolverEnv,
    request: Request,
    entry: KeyRequirement & { readonly places: readonly KeyLocation[]; readonly path?: string },
    waitUntil: WaitUntil,
  ): IdentityResult | Promise<IdentityResult> {
    const carriers = {
      authorization: request.headers.get('authorization'),
      query: entry.places.includes('query') ? keysOf(new URL(request.url).searchParams) : [],
      path: entry.path ?? null,
    }
    const presented = presentedKey(carriers, entry.places)
    if (!presented.ok)
      return presented.error.kind === 'key_missing' ? err(missingKeyFailure(request, entry.places)) : presented
    return this.#resolve(env, presented.value, entry, waitUntil, () => callerAddress(env.TRUST_PROXY, request.headers))
  }

  /** Who a key belongs to, if it may enter. `address`: of the caller, null where it is not known for sure. */
  async identify(
    env: KeyResolverEnv,
    key: string,
    entry: KeyRequirement,
    waitUntil: WaitUntil,
    address: string | null = null,
  ): Promise<IdentityResult> {
    return this.#resolve(env, key, entry, waitUntil, () => address)
  }

  /** At once for a key that is remembered, without a look at the address where it does not matter. */
  #resolve(
    env: KeyResolverEnv,
    key: string,
    entry: KeyRequirement,
    waitUntil: WaitUntil,
    address: () => string | null,
  ): IdentityResult | Promise<IdentityResult> {
    const now = this.#nowMs()
    if (key.startsWith(TOKEN_PREFIX)) return this.#resolveToken({ env, key, entry, waitUntil, address: address(), now })
    const record = this.#cache.get(key, now)
    return record === undefined || (record !== null && this.#isOutdated(record))
      ? this.#lookUpAndResolve({ env, key, entry, waitUntil, address: address(), now }, record)
      : this.#verdict(record, entry, now, address)
  }

  /** With what a token says, and nothing that its key may not: what it was made for is read from the key's record each time. */
  async #resolveToken({ env, key, entry, waitUntil, address, now }: KeyLookup): Promise<IdentityResult> {
    if (!entry.acceptsTokens) return err({ kind: 'not_entitled', why: TOKEN_NOT_ACCEPTED })
    if (!env.KEY_SECRET) return err(NO_KEY_SECRET)
    const { waitMs, limit } = this.#limiter.take(address, now)
    if (waitMs > 0) return err({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
    const opened = await openStreamToken(key, env.KEY_SECRET, now)
    if (!opened.ok) return opened
    const { keyHash, ...token } = opened.value
    let record = this.#tokenKeys.get(keyHash, now) ?? null
    try {
      record ??= await findKey(env, keyHash, waitUntil)
    } catch (error) {
      this.#report(error)
      return err(KEYS_UNAVAILABLE)
    }
    if (record !== null && this.#isOutdated(record)) record = await this.#reload(env, record, waitUntil)
    this.#tokenKeys.set(keyHash, record, now)
    const entered = this.#verdict(record && withDataAccess(record), entry, now, () => address)
    return entered.ok ? ok(narrowIdentity(entered.value, token)) : entered
  }

  async #lookUpAndResolve(presented: KeyLookup, known: KeyRecord | undefined): Promise<IdentityResult> {
    const { env, key, entry, waitUntil, address, now } = presented
    const found: LookupResult = known ? ok(known) : await this.#lookUp(presented)
    if (!found.ok) return found
    let record = found.value
    if (record !== null && this.#isOutdated(record)) {
      record = await this.#reload(env, record, waitUntil)
      this.#cache.set(key, record, now)
    }
    return this.#verdict(record, entry, now, () => address)
  }

  #verdict(record: KeyRecord | null, entry: KeyRequirement, now: number, address: () => string | null): IdentityResult {
    if (record === null) return err({ kind: 'key_unknown' })
    const entered = this.#revocation(record) ?? admit(record, entry, now, record.ranges === null ? null : address())
    if (entered.ok) return entered
    return err({ ...entered.error, caller: { account: record.account, keyHash: record.hash } })
  }

  #revocation(record: KeyRecord): IdentityResult | null {
    if (!this.#revoked.has(record.hash)) return null
    if (record.replaced) return err({ kind: 'key_replaced' })
    return err(record.revoked === null ? KEY_ENDED : { kind: 'key_revoked' })
  }

  /** One look-up for all who present the same key at the same time. */
  async #lookUp(presented: KeyLookup): Promise<LookupResult> {
    const { key, waitUntil, address, now } = presented
    const flight = this.#lookups.current(key, now)
    const shared = flight === null ? null : await orFallback(flight, LOOKUP_MAX_MS, null, after)
    if (shared !== null) return shared
    const parsed = parseKey(key)
    if (!parsed.ok) return err({ kind: 'key_malformed', hint: parsed.error })
    const isKnown = this.#cache.has(key)
    const { waitMs, limit } = isKnown ? { waitMs: 0, limit: KEY_LOOKUPS.each } : this.#limiter.take(address, now)
    if (waitMs > 0) return err({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
    const find = () => this.#find({ ...presented, address: isKnown ? null : address }, parsed.value)
    const found = this.#lookups.start(key, find, now)
    // Others may wait for it when this caller is gone.
    waitUntil(found.catch(() => undefined))
    return found
  }

  async #find({ env, waitUntil, address, now }: KeyLookup, key: ParsedKey): Promise<LookupResult> {
    if (env.KEY_CHECK) {
      if (!env.KEY_SECRET) return err(NO_KEY_SECRET)
      if (!(await isCheckValid(key, env.KEY_SECRET))) return err({ kind: 'key_malformed', hint: CHECK_MISMATCH })
    }
    if (!(await isWithinLocation(env.LOOK_UP_LIMIT, address)))
      return err({ kind: 'rate_limited', retryAfterMs: LOCATION_PERIOD_MS, limit: KEY_LOOKUPS.each })
    const hash = await hashKey(key.text)
    try {
      const record = await findKey(env, hash, waitUntil)
      this.#cache.set(key.text, record, now)
      return ok(record)
    } catch (error) {
      this.#report(error)
      return err(KEYS_UNAVAILABLE)
    }
  }

  /** The meter called this key revoked: refused here from now on, and the hint in KV brought up to date. */
  markRevoked(env: KeyStoreEnv, keyHash: KeyHash, waitUntil: WaitUntil): void {
    if (this.#revoked.has(keyHash)) return
    this.#revoked.set(keyHash, true)
    waitUntil(refreshHint(env, keyHash))
  }

  /** The meter said that the record of this key was changed: copies of before are not taken any more. */
  markChanged(keyHash: KeyHash, changedMs: number): void {
    if ((this.#changed.get(keyHash)?.changedMs ?? 0) >= changedMs) return
    this.#changed.set(keyHash, { changedMs, newEnoughMs: changedMs + SKEW_MS })
  }

  #isOutdated(record: KeyRecord): boolean {
    const change = this.#changed.get(record.hash)
    return change !== undefined && record.at < change.newEnoughMs
  }

  /** The record as D1 has it. Where D1 cannot be asked the old one stands, as it would where nobody had told. */
  async #reload(env: KeyStoreEnv, old: KeyRecord, waitUntil: WaitUntil): Promise<KeyRecord | null> {
    const record = await keyFromD1(env.ACCOUNTS, old.hash).catch(() => old)
    const change = this.#changed.get(old.hash)
    if (record === null || record === old || change === undefined) return record
    // Read after it was told, and so after the change, whatever the clocks say.
    change.newEnoughMs = Math.min(change.newEnoughMs, record.at)
    waitUntil(putKeyHint(env.KEYS, record))
    return record
  }
}

/** A stream token may come under its own name. */
const keysOf = (parameters: URLSearchParams) => [...parameters.getAll('key'), ...parameters.getAll('token')]

function missingKeyFailure({ headers, url }: Request, places: readonly KeyLocation[]): Failure {
  return missingKey({ headers, parameters: [...new URL(url).searchParams.keys()] }, places)
}

async function refreshHint(env: KeyStoreEnv, keyHash: KeyHash): Promise<void> {
  const record = await keyFromD1(env.ACCOUNTS, keyHash)
  if (record?.revoked) await putKeyHint(env.KEYS, record)
}
