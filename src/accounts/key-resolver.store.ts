// Resolves an API key to an identity: isolate cache, syntax, keyed checksum, KV, D1. Invariants: a key with an invalid
// checksum never reaches storage; lookups are limited per address and single-flighted per key; a recently used key is
// not delayed by other keys of its address; a key reported as revoked by the meter is rejected immediately, and one
// reported as changed is re-read from D1, whatever KV contains; keys appear in no error and no log.

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
  /** Parsed gateway variables. */
  readonly KEY_CHECK: boolean
  readonly TRUST_PROXY: boolean
  readonly LOOK_UP_LIMIT?: LocationLimit
}

/** A key or token that must be looked up. */
interface KeyLookup {
  readonly env: KeyResolverEnv
  readonly key: string
  readonly requirement: KeyRequirement
  readonly waitUntil: WaitUntil
  /** Address of the caller; null if unknown or forgeable. */
  readonly address: string | null
  readonly now: number
}

type LookupResult = Result<KeyRecord | null, Failure>
type IdentityResult = Result<Identity, Failure>

export const NO_KEY_SECRET: Failure = {
  kind: 'unavailable',
  what: 'KEY_SECRET',
  hint: 'KEY_SECRET is not set on this gateway. Its operator must set it.',
}

const KEYS_UNAVAILABLE: Failure = { kind: 'unavailable', what: 'API keys cannot be checked right now' }

const TOKEN_NOT_ACCEPTED =
  'This is a stream token (cqe_). It opens /ws, /graphql and some types of /info only. Send an API key here.'

const CHECK_MISMATCH =
  'The check characters of this API key do not match. Check that the key is complete and was issued by this gateway.'

/** A shared lookup may be lost when the request that started it ends. */
const LOOKUP_MAX_MS = 3_000
const LOOKUPS_MAX = 1_000
/** Maximum number of revoked keys, and of changed keys, that an isolate remembers. */
const NOTICES_MAX = 10_000
/** Maximum clock difference between readers and writers of records. */
const SKEW_MS = 5_000

/** One per isolate. */
export class KeyResolver {
  readonly #cache = new KeyCache()
  /** Keyed by the hash inside a token. Separate from `#cache`, because the hash could otherwise be sent as a key. */
  readonly #tokenKeys = new KeyCache()
  readonly #limiter = new AddressLimiter(KEY_LOOKUPS)
  readonly #lookups = new SingleFlights<LookupResult>(LOOKUP_MAX_MS, LOOKUPS_MAX)
  /** Hashes of keys that the meter reported as revoked. The cache and KV may still contain the old records. */
  readonly #revoked = new BoundedMap<string, true>(NOTICES_MAX)
  /** Keys that the meter reported as changed. A record is fresh if it was read at `newEnoughMs` or later. */
  readonly #changed = new BoundedMap<string, { readonly changedMs: number; newEnoughMs: number }>(NOTICES_MAX)
  readonly #nowMs: () => number
  readonly #report: (error: unknown) => void

  /** `report` logs D1 failures; the caller gets an `unavailable` failure. */
  constructor(nowMs: () => number = () => Date.now(), report: (error: unknown) => void = () => {}) {
    this.#nowMs = nowMs
    this.#report = report
  }

  /** Authenticates a request by a key in one of `places`. `path` is the URL segment after `/k/`, if any. */
  authenticate(
    env: KeyResolverEnv,
    request: Request,
    requirement: KeyRequirement & { readonly places: readonly KeyLocation[]; readonly path?: string },
    waitUntil: WaitUntil,
  ): IdentityResult | Promise<IdentityResult> {
    const carriers = {
      authorization: request.headers.get('authorization'),
      query: requirement.places.includes('query') ? keysOf(new URL(request.url).searchParams) : [],
      path: requirement.path ?? null,
    }
    const presented = presentedKey(carriers, requirement.places)
    if (!presented.ok)
      return presented.error.kind === 'key_missing' ? err(missingKeyFailure(request, requirement.places)) : presented
    return this.#resolve(env, presented.value, requirement, waitUntil, () =>
      callerAddress(env.TRUST_PROXY, request.headers),
    )
  }

  /** Identifies a key. `address` belongs to the caller; null if unknown or forgeable. */
  async identify(
    env: KeyResolverEnv,
    key: string,
    requirement: KeyRequirement,
    waitUntil: WaitUntil,
    address: string | null = null,
  ): Promise<IdentityResult> {
    return this.#resolve(env, key, requirement, waitUntil, () => address)
  }

  /** Synchronous for a cached key. The address is read only if it matters. */
  #resolve(
    env: KeyResolverEnv,
    key: string,
    requirement: KeyRequirement,
    waitUntil: WaitUntil,
    address: () => string | null,
  ): IdentityResult | Promise<IdentityResult> {
    const now = this.#nowMs()
    if (key.startsWith(TOKEN_PREFIX))
      return this.#resolveToken({ env, key, requirement, waitUntil, address: address(), now })
    const record = this.#cache.get(key, now)
    return record === undefined || (record !== null && this.#isOutdated(record))
      ? this.#lookUpAndResolve({ env, key, requirement, waitUntil, address: address(), now }, record)
      : this.#verdict(record, requirement, now, address)
  }

  /** Applies the token's scope within the key's rights. The key record is read on each use. */
  async #resolveToken({ env, key, requirement, waitUntil, address, now }: KeyLookup): Promise<IdentityResult> {
    if (!requirement.acceptsTokens) return err({ kind: 'not_entitled', why: TOKEN_NOT_ACCEPTED })
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
    const result = this.#verdict(record && withDataAccess(record), requirement, now, () => address)
    return result.ok ? ok(narrowIdentity(result.value, token)) : result
  }

  async #lookUpAndResolve(presented: KeyLookup, known: KeyRecord | undefined): Promise<IdentityResult> {
    const { env, key, requirement, waitUntil, address, now } = presented
    const found: LookupResult = known ? ok(known) : await this.#lookUp(presented)
    if (!found.ok) return found
    let record = found.value
    if (record !== null && this.#isOutdated(record)) {
      record = await this.#reload(env, record, waitUntil)
      this.#cache.set(key, record, now)
    }
    return this.#verdict(record, requirement, now, () => address)
  }

  #verdict(
    record: KeyRecord | null,
    requirement: KeyRequirement,
    now: number,
    address: () => string | null,
  ): IdentityResult {
    if (record === null) return err({ kind: 'key_unknown' })
    const result =
      this.#revocation(record) ?? admit(record, requirement, now, record.ranges === null ? null : address())
    if (result.ok) return result
    return err({ ...result.error, caller: { account: record.account, keyHash: record.hash } })
  }

  #revocation(record: KeyRecord): IdentityResult | null {
    if (!this.#revoked.has(record.hash)) return null
    if (record.replaced) return err({ kind: 'key_replaced' })
    return err(record.revoked === null ? KEY_ENDED : { kind: 'key_revoked' })
  }

  /** Single-flights concurrent lookups of one key. */
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
    // Other callers may wait for the lookup after this one is gone.
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

  /** Marks a key as revoked by the meter: rejects it from now on and updates the KV hint. */
  markRevoked(env: KeyStoreEnv, keyHash: KeyHash, waitUntil: WaitUntil): void {
    if (this.#revoked.has(keyHash)) return
    this.#revoked.set(keyHash, true)
    waitUntil(refreshHint(env, keyHash))
  }

  /** Marks a record as changed by the meter: older copies are no longer used. */
  markChanged(keyHash: KeyHash, changedMs: number): void {
    if ((this.#changed.get(keyHash)?.changedMs ?? 0) >= changedMs) return
    this.#changed.set(keyHash, { changedMs, newEnoughMs: changedMs + SKEW_MS })
  }

  #isOutdated(record: KeyRecord): boolean {
    const change = this.#changed.get(record.hash)
    return change !== undefined && record.at < change.newEnoughMs
  }

  /** Record from D1. If D1 fails, the old record stays in use. */
  async #reload(env: KeyStoreEnv, old: KeyRecord, waitUntil: WaitUntil): Promise<KeyRecord | null> {
    const record = await keyFromD1(env.ACCOUNTS, old.hash).catch(() => old)
    const change = this.#changed.get(old.hash)
    if (record === null || record === old || change === undefined) return record
    // The record was read after the notice and therefore after the change, even if the clocks differ.
    change.newEnoughMs = Math.min(change.newEnoughMs, record.at)
    waitUntil(putKeyHint(env.KEYS, record))
    return record
  }
}

/** A stream token may use its own parameter name. */
const keysOf = (parameters: URLSearchParams) => [...parameters.getAll('key'), ...parameters.getAll('token')]

function missingKeyFailure({ headers, url }: Request, places: readonly KeyLocation[]): Failure {
  return missingKey({ headers, parameters: [...new URL(url).searchParams.keys()] }, places)
}

async function refreshHint(env: KeyStoreEnv, keyHash: KeyHash): Promise<void> {
  const record = await keyFromD1(env.ACCOUNTS, keyHash)
  if (record?.revoked) await putKeyHint(env.KEYS, record)
}
