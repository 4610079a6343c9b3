// Sign-up by e-mail: sends a link, and creates or opens the account when the link is confirmed. Invariants: the
// requester learns nothing about an address; all variants of an address share one trial; a link opens only the account
// of the exact address it was sent to; the next link completes an interrupted sign-up.

import { sha256 } from '../../accounts/digest.client.ts'
import type { KeyKind } from '../../accounts/format.ts'
import { randomBase58 } from '../../core/base58.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId, KeyHash } from '../../core/ids.ts'
import { areaOf, networkOf } from '../../core/network.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { hmac } from '../../core/signature.client.ts'
import type { Accounts, Keys } from '../platform/platform-api.ts'
import type { Refusal } from '../platform/refusal.ts'
import type { Mailer } from './mailer.client.ts'
import type { SignUpSettings } from './signup-bounds.ts'
import {
  type LinkRefusal,
  linkBounds,
  linkRefusal,
  type SignUpAddress,
  signUpAddress,
  signUpAlert,
} from './signup-bounds.ts'
import { LINK_LIFE_MS, type LinkOrigin, type LinkOwner, SignUpLinks } from './signup-links.store.ts'

export interface SignUpPorts {
  readonly db: D1Database
  readonly keySecret: string
  readonly settings: SignUpSettings
  readonly mailer: Mailer
  readonly accounts: Pick<Accounts, 'ensure' | 'missingFailure'>
  readonly keys: Pick<Keys, 'createOwn' | 'signUpKeys'>
  nowMs(): number
  /** Location hint of a new account's meter; null if unknown. */
  visitorsRegion(): string | null
  /** Writes an alert to the operator's log. */
  alert(text: string): void
}

/** Result of a confirmed link. */
export interface SignUpResult {
  readonly account: AccountId
  /** Hash of the service key behind the session. */
  readonly keyHash: KeyHash
  /** API key of the trial, shown only once; null: issued earlier. */
  readonly key: string | null
}

const PLAN = 'trial'
const LABEL = 'console sign-up'
const PURPOSE = 'weir/sign-up-addresses/1'
/** 43 base58 characters are 251 bits. */
const TOKEN_LENGTH = 43
const LINK_TOKEN = /^[1-9A-HJ-NP-Za-km-z]{43}$/

const utf8 = (text: string) => new Uint8Array(new TextEncoder().encode(text))
const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
const linkNotFound = (hint: string) => err<Failure>({ kind: 'not_found', what: 'This link', hint })
const keyRefusal = (refused: Refusal) =>
  err<Failure>(refused.kind === 'conflict' ? { kind: 'unavailable', what: 'A key', hint: refused.message } : refused)
const ASK_AGAIN = 'Request a new one with your e-mail address.'

export class SignUp {
  readonly #ports: SignUpPorts
  readonly #links: SignUpLinks

  constructor(ports: SignUpPorts) {
    this.#ports = ports
    this.#links = new SignUpLinks(ports.db)
  }

  address(email: string): Result<SignUpAddress, Failure> {
    const read = signUpAddress(email, this.#ports.settings.refusedDomains)
    return read.ok ? read : err({ kind: 'bad_field', issues: [{ path: 'email', message: read.error }] })
  }

  /**
   * Reserves one of the day's links. `refused`: why an address without an account gets none. Call `send` after
   * responding, so that the response time reveals nothing about the account.
   */
  async requestLink(
    to: SignUpAddress,
    caller: string | null,
    pageUrl: string,
  ): Promise<{ readonly refused: LinkRefusal | null; readonly send: () => Promise<void> }> {
    const { mailer, nowMs, settings, alert } = this.#ports
    const token = randomBase58(TOKEN_LENGTH, random)
    const hash = await sha256(token)
    const domain = to.base.slice(to.base.lastIndexOf('@') + 1)
    const [from, address, base] = await Promise.all([
      this.#originOf(domain, caller),
      this.#hash(to.address),
      this.#hash(to.base),
    ])
    const owner = { address, base }
    const bounds = linkBounds(settings.perDay, domain)
    const { before, isAdded } = await this.#links.add(hash, owner, from, bounds, nowMs())
    const warning = isAdded ? signUpAlert(before.all + 1, settings.perDay) : null
    if (warning !== null) alert(warning)
    const refused = linkRefusal(before, bounds)
    const send = async () => {
      const isOwners = refused !== null && (await this.#links.ownerOf(owner)) !== null
      if (isAdded || (isOwners && (await this.#links.addForOwner(hash, owner, nowMs()))))
        await mailer(to.address, `${pageUrl}#join=${token}`)
    }
    return { refused, send }
  }

  async #originOf(ofMailbox: string, caller: string | null): Promise<LinkOrigin> {
    const hashed = (text: string | null) => (text === null ? null : this.#hash(text))
    const [network, area, domain] = await Promise.all([
      hashed(caller && networkOf(caller)),
      hashed(caller && `area ${areaOf(caller)}`),
      this.#hash(`domain ${ofMailbox}`),
    ])
    return { network, area, domain }
  }

  async confirm(token: string): Promise<Result<SignUpResult, Failure>> {
    const { nowMs } = this.#ports
    const hash = await sha256(token)
    const link = LINK_TOKEN.test(token) ? await this.#links.find(hash) : null
    if (link === null) return linkNotFound(`This link is invalid or expired. ${ASK_AGAIN}`)
    if (link.used !== null) return linkNotFound(`This link was already used; it works once. ${ASK_AGAIN}`)
    if (nowMs() - link.created > LINK_LIFE_MS) return linkNotFound(`This link expired after 30 minutes. ${ASK_AGAIN}`)
    const account = await this.#accountOf(link)
    if (!account.ok) return account
    if (!(await this.#links.markUsed(hash, nowMs())))
      return linkNotFound(`This link was already used; it works once. ${ASK_AGAIN}`)
    return this.#issueKeys(account.value)
  }

  /** Account of the address, created if there is none. */
  async #accountOf(owner: LinkOwner): Promise<Result<string, Failure>> {
    const { accounts, nowMs, visitorsRegion } = this.#ports
    const fresh = `a-${randomBase58(12, random)}`
    if ((await this.#links.ownerOf(owner)) === null) await this.#links.claim(owner, fresh, nowMs())
    const found = await this.#links.ownerOf(owner)
    if (found === null || found.address !== owner.address)
      return err({
        kind: 'not_entitled',
        why: 'This mailbox signed up with a different spelling of its address. Request a link with the spelling you used first.',
      })
    // Also for an existing account: an earlier attempt may have stopped before its meter started.
    const made = await accounts.ensure(found.account, { plan: PLAN, terms: {} }, { region: visitorsRegion() })
    if (made.ok || (await accounts.missingFailure(found.account)) === null) return ok(found.account)
    return err({
      kind: 'unavailable',
      what: 'Trials',
      hint: 'This gateway currently offers no trials. Ask its operator; your link stays valid.',
    })
  }

  async #issueKeys(account: AccountId): Promise<Result<SignUpResult, Failure>> {
    const { keys } = this.#ports
    // Only the key created at sign-up counts: the owner may have restricted keys with the same label.
    const known = await keys.signUpKeys(account, LABEL)
    // The idempotency key makes concurrent links create one key. It contains a space, which owners cannot send, so it
    // never collides with theirs.
    const made = (kind: KeyKind, label: string) =>
      keys.createOwn({ account, label, kind, request: `sign-up ${kind} ${known[kind]}` })
    const first = known.api > 0 ? null : await made('api', PLAN)
    if (first !== null && !first.ok) return keyRefusal(first.error)
    const service = known.hash === null ? await made('service', LABEL) : ok({ hash: known.hash })
    if (!service.ok) return keyRefusal(service.error)
    return ok({ account, keyHash: service.value.hash, key: first && 'key' in first.value ? first.value.key : null })
  }

  /** HMAC with a key derived for this purpose only. */
  async #hash(text: string): Promise<string> {
    return hmac(utf8(await hmac(utf8(this.#ports.keySecret), PURPOSE)), text)
  }
}
