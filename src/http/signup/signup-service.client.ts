// Sign-up by e-mail: sends a link, and creates or opens the account when the link is confirmed. Invariants: the
// requester learns nothing about an address; all variants of an address share one trial; a link opens only accounts of
// the exact address it was sent to; the next link completes an interrupted sign-up; a sign-up adds the account's
// first member, once.

import { sha256 } from '../../accounts/digest.client.ts'
import type { Membership } from '../../accounts/members.ts'
import type { SessionOrigin } from '../../accounts/sessions/session.ts'
import { randomBase58 } from '../../core/base58.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { areaOf, networkOf } from '../../core/network.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { seal, unseal } from '../../pipelines/sealing.client.ts'
import { type MailAddress, mailAddress } from '../mail/mail.ts'
import type { Accounts } from '../platform/platform-api.ts'
import { addressHash } from './address-hash.client.ts'
import type { LinkMailer } from './link-mails.client.ts'
import { isInvitation, type MemberService, noInvitation } from './member-service.client.ts'
import type { MemberSignIn } from './member-sign-in.client.ts'
import type { SignUpSettings } from './signup-bounds.ts'
import { type LinkRefusal, linkBounds, linkRefusal, signUpAlert } from './signup-bounds.ts'
import { LINK_LIFE_MS, type LinkOrigin, type LinkOwner, SignUpLinks } from './signup-links.store.ts'

export interface SignUpPorts {
  readonly db: D1Database
  readonly keySecret: string
  readonly settings: SignUpSettings
  readonly mailer: LinkMailer
  readonly accounts: Pick<Accounts, 'ensure' | 'missingFailure'>
  readonly members: Pick<MemberService, 'memberships' | 'addFounder' | 'invitation'>
  readonly signIn: Pick<MemberSignIn, 'originOf' | 'firstKey'>
  nowMs(): number
  /** Location hint of a new account's meter; null if unknown. */
  visitorsRegion(): string | null
  /** Writes an alert to the operator's log. */
  alert(text: string): void
}

/** Result of a confirmed link. */
export interface SignUpResult {
  readonly account: AccountId
  readonly origin: SessionOrigin
  /** API key of the trial, shown only once; null: issued earlier. */
  readonly key: string | null
}

const PLAN = 'trial'
/** 43 base58 characters are 251 bits. */
const TOKEN_LENGTH = 43
const LINK_TOKEN = /^[1-9A-HJ-NP-Za-km-z]{43}$/

const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
const linkNotFound = (hint: string) => err<Failure>({ kind: 'not_found', what: 'This link', hint })
const ASK_AGAIN = 'Request a new one with your e-mail address.'

export class SignUp {
  readonly #ports: SignUpPorts
  readonly #links: SignUpLinks

  constructor(ports: SignUpPorts) {
    this.#ports = ports
    this.#links = new SignUpLinks(ports.db)
  }

  address(email: string): Result<MailAddress, Failure> {
    const read = mailAddress(email, this.#ports.settings.refusedDomains)
    return read.ok ? read : err({ kind: 'bad_field', issues: [{ path: 'email', message: read.error }] })
  }

  /**
   * Reserves one of the day's links. `refused`: why an address without an account gets none. Call `send` after
   * responding, so that the response time reveals nothing about the account.
   */
  async requestLink(
    to: MailAddress,
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
    const sealed = await seal(to.address, hash, this.#ports.keySecret)
    const owner = { address, base, sealed }
    const bounds = linkBounds(settings.perDay, domain)
    const { before, isAdded } = await this.#links.add(hash, owner, from, bounds, nowMs())
    const warning = isAdded ? signUpAlert(before.all + 1, settings.perDay) : null
    if (warning !== null) alert(warning)
    const refused = linkRefusal(before, bounds)
    const send = async () => {
      const isKnown = refused !== null && (await this.#isKnown(owner))
      if (isAdded || (isKnown && (await this.#links.addForOwner(hash, owner, nowMs()))))
        await mailer({ to: to.address, link: `${pageUrl}#join=${token}` })
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

  async #isKnown(owner: LinkOwner): Promise<boolean> {
    if ((await this.#links.ownerOf(owner)) !== null) return true
    return (await this.#ports.members.memberships(owner.address)).length > 0
  }

  /** Uses a sign-in link or an invitation. */
  async confirm(token: string): Promise<Result<SignUpResult, Failure>> {
    if (isInvitation(token)) return this.#accept(token)
    const { nowMs } = this.#ports
    const hash = await sha256(token)
    const link = LINK_TOKEN.test(token) ? await this.#links.find(hash) : null
    if (link === null) return linkNotFound(`This link is invalid or expired. ${ASK_AGAIN}`)
    if (link.used !== null) return linkNotFound(`This link was already used; it works once. ${ASK_AGAIN}`)
    if (nowMs() - link.created > LINK_LIFE_MS) return linkNotFound(`This link expired after 30 minutes. ${ASK_AGAIN}`)
    // An earlier version stored no address, without which there is no member.
    const email = await unseal(link.sealed, hash, this.#ports.keySecret)
    if (email === null) return linkNotFound(`This link expired. ${ASK_AGAIN}`)
    const account = await this.#accountOf(link)
    if (!account.ok) return account
    if (!(await this.#links.markUsed(hash, nowMs())))
      return linkNotFound(`This link was already used; it works once. ${ASK_AGAIN}`)
    if (account.value !== null) await this.#ports.members.addFounder(account.value, link, email)
    const [memberships, signedUp] = await Promise.all([
      this.#ports.members.memberships(link.address),
      this.#links.ownerOf(link),
    ])
    const membership = memberships.find((each) => each.account === account.value) ?? memberships[0]
    if (membership === undefined) return err(REMOVED)
    return this.#signIn(membership, signedUp?.address === link.address && signedUp.account === membership.account)
  }

  async #accept(token: string): Promise<Result<SignUpResult, Failure>> {
    const invited = await this.#ports.members.invitation(token)
    if (!invited.ok) return invited
    const { use, ...membership } = invited.value
    // The link stays valid if the key cannot be created.
    const origin = await this.#ports.signIn.originOf(membership)
    if (!origin.ok) return origin
    if (!(await use())) return err(noInvitation('was already used'))
    return ok({ origin: { ...origin.value, isInvited: true }, account: membership.account, key: null })
  }

  /**
   * Account that the address signed up for but is not a member of yet, created if the address is new. Null: the address
   * is a member, or was one.
   */
  async #accountOf(owner: LinkOwner): Promise<Result<string | null, Failure>> {
    const { accounts, members, nowMs, visitorsRegion } = this.#ports
    const before = await this.#links.ownerOf(owner)
    const isOwn = before?.address === owner.address
    if (isOwn && before.member !== null) return ok(null)
    if (!isOwn && (await members.memberships(owner.address)).length > 0) return ok(null)
    const fresh = `a-${randomBase58(12, random)}`
    if (before === null) await this.#links.claim(owner, fresh, nowMs())
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

  /** Signs in. An own account without any API key gets one, for its owner. */
  async #signIn(membership: Membership, isOwn: boolean): Promise<Result<SignUpResult, Failure>> {
    const { signIn } = this.#ports
    const key = isOwn && membership.role === 'owner' ? await signIn.firstKey(membership.account, PLAN) : ok(null)
    if (!key.ok) return key
    const origin = await signIn.originOf(membership)
    return origin.ok ? ok({ origin: origin.value, account: membership.account, key: key.value }) : origin
  }

  #hash(text: string): Promise<string> {
    return addressHash(this.#ports.keySecret, text)
  }
}

const REMOVED: Failure = {
  kind: 'not_entitled',
  why: 'This address is no longer a member of an account. Ask an owner of the account for an invitation.',
}
