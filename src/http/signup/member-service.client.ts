// Members of accounts: invitations by mail, roles, removal. Invariants: a response never depends on whether an address is
// known to the gateway; an invitation is stored before it is mailed, as the hash of its token.

import { sha256 } from '../../accounts/digest.client.ts'
import { type InvitationRefusal, MemberStore } from '../../accounts/members.store.ts'
import {
  INVITATIONS_PER_HOUR,
  MEMBERS_MAX,
  type MemberRow,
  type Membership,
  PENDING_MAX,
} from '../../accounts/members.ts'
import { teamEvents } from '../../accounts/team-events.store.ts'
import { randomBase58 } from '../../core/base58.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { seal, unseal } from '../../pipelines/sealing.client.ts'
import { mailAddress } from '../mail/mail.ts'
import type { InvitationInput, Member, Members } from '../platform/platform-api.ts'
import { badField, type Refusal } from '../platform/refusal.ts'
import { addressHash } from './address-hash.client.ts'
import type { LinkMailer } from './link-mails.client.ts'
import type { LinkOwner } from './signup-links.store.ts'

export interface MemberPorts {
  readonly db: D1Database
  readonly keySecret: string
  /** Null: this gateway sends no mail. */
  readonly mailer: LinkMailer | null
  readonly delivery: Members['delivery']
  readonly refusedDomains: readonly string[]
  /** Public origin of the console; empty: the origin of the request. */
  readonly publicUrl: string
  nowMs(): number
  report(error: unknown): void
}

const ID_LENGTH = 16
/** 43 base58 characters are 251 bits. */
const TOKEN_LENGTH = 43
const INVITATION_TOKEN = /^invite_[1-9A-HJ-NP-Za-km-z]{43}$/
const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))

export const isInvitation = (token: string) => token.startsWith('invite_')
const newMemberId = () => `m-${randomBase58(ID_LENGTH, random)}`

const conflict = (message: string): Refusal => ({ kind: 'conflict', message })
const INVITATION_REFUSALS: Readonly<Record<InvitationRefusal, Refusal>> = {
  member: conflict('email: is already a member, or has a pending invitation'),
  members: conflict(`members: this account already has ${MEMBERS_MAX}, pending invitations included. Remove one first`),
  pending: conflict(`members: this account already has ${PENDING_MAX} pending invitations. Revoke one first`),
  hour: {
    kind: 'limit_reached',
    limit: 'Invitations per hour',
    most: INVITATIONS_PER_HOUR,
    hint: `This account sent ${INVITATIONS_PER_HOUR} invitations in the last hour. Try again later.`,
  },
}
const LAST_OWNER = conflict('role: this is the last owner of the account. Make another member an owner first')
const NO_MAIL: Failure = {
  kind: 'unavailable',
  what: 'Invitations',
  hint: 'This gateway sends no e-mail. Its operator must turn on sign-up (SIGNUP).',
}
const NO_MEMBER: Failure = {
  kind: 'not_found',
  what: 'This member',
  hint: 'This member does not exist or was removed. GET /platform/members/ lists all members.',
}
const NOT_SENT: Failure = {
  kind: 'unavailable',
  what: 'The mail service',
  hint: 'The invitation was stored, but its e-mail could not be sent. Revoke it and invite again.',
}
const TOO_SOON: Failure = {
  kind: 'rate_limited',
  retryAfterMs: 3_600_000,
  hint: `An invitation can be sent again after an hour, and an account can send ${INVITATIONS_PER_HOUR} per hour.`,
}

/** Binds an encrypted address to its row. */
const sealedFor = (id: string) => `member ${id}`

export class MemberService implements Members {
  readonly #ports: MemberPorts
  readonly #store: MemberStore

  constructor(ports: MemberPorts) {
    this.#ports = ports
    this.#store = new MemberStore(ports.db)
  }

  get delivery() {
    return this.#ports.mailer === null ? null : this.#ports.delivery
  }

  async list(account: AccountId): Promise<readonly Member[]> {
    return Promise.all((await this.#store.list(account)).map((row) => this.#clear(row)))
  }

  async invite({ account, email, role, by, origin }: InvitationInput): Promise<Result<Member, Refusal>> {
    const { keySecret, mailer, refusedDomains, nowMs } = this.#ports
    if (mailer === null) return err(NO_MAIL)
    const read = mailAddress(email, refusedDomains)
    if (!read.ok) return err(badField('email', read.error))
    const { address: to } = read.value
    const id = newMemberId()
    const [address, base, sealed] = await Promise.all([
      addressHash(keySecret, to),
      addressHash(keySecret, read.value.base),
      seal(to, sealedFor(id), keySecret),
    ])
    const token = newToken()
    const added = { id, account, address, base, sealed, role }
    const refused = await this.#store.invite(added, await sha256(token), by, nowMs())
    if (refused !== null) return err(INVITATION_REFUSALS[refused])
    return this.#mailed(account, id, to, token, origin)
  }

  async inviteAgain({ account, id, by, origin }: Parameters<Members['inviteAgain']>[0]) {
    if (this.#ports.mailer === null) return err(NO_MAIL)
    const known = await this.#find(account, id)
    if (!known.ok) return known
    if (known.value.joined !== null) return err(conflict('member: has already joined'))
    const token = newToken()
    if (!(await this.#store.inviteAgain(account, id, await sha256(token), by, this.#ports.nowMs())))
      return err(TOO_SOON)
    return this.#mailed(account, id, known.value.email, token, origin)
  }

  async #mailed(
    account: AccountId,
    id: string,
    to: string,
    token: string,
    origin: string,
  ): Promise<Result<Member, Refusal>> {
    const { mailer, publicUrl, nowMs, report } = this.#ports
    const member = await this.#find(account, id)
    if (!member.ok) return member
    const mail = {
      to,
      link: `${publicUrl || origin}/console#join=${token}`,
      invitation: { account, role: member.value.role },
    }
    // An inviter cannot see whether other accounts invited the address, so a mail too many is dropped silently.
    if (!(await this.#store.mayMail(id, nowMs()))) return member
    try {
      await mailer?.(mail)
      return member
    } catch (error) {
      report(error)
      return err(NOT_SENT)
    }
  }

  async changeRole({ account, id, role, by }: Parameters<Members['changeRole']>[0]): Promise<Result<Member, Refusal>> {
    const known = await this.#find(account, id)
    if (!known.ok || known.value.role === role) return known
    const isChanged = await this.#store.changeRole(account, id, role, by, this.#ports.nowMs())
    const after = await this.#find(account, id)
    return isChanged || !after.ok || after.value.role === role ? after : err(LAST_OWNER)
  }

  async remove({ account, id, by }: Parameters<Members['remove']>[0]): Promise<Result<Member, Refusal>> {
    const row = await this.#store.find(account, id)
    if (row === null) return err(NO_MEMBER)
    const isRemoved = await this.#store.remove(row, by, this.#ports.nowMs())
    if (isRemoved) return ok(await this.#clear(row))
    return err((await this.#store.find(account, id)) === null ? NO_MEMBER : LAST_OWNER)
  }

  events(account: AccountId, before: number, limit: number) {
    return teamEvents(this.#ports.db, account, before, limit)
  }

  async emails(account: AccountId, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#store.sealedAddresses(account, ids)
    return new Map(await Promise.all(rows.map(async (row) => [row.id, await this.#emailOf(row)] as const)))
  }

  /** Accounts of the address with this HMAC, the last used first. */
  memberships(address: string): Promise<Membership[]> {
    return this.#store.memberships(address)
  }

  /** Accounts that this member can switch to, the current one included, by name. */
  accountsOf(member: string): Promise<Membership[]> {
    return this.#store.accountsOf(member)
  }

  /** Adds the first owner of the account, who signed up with this address, once. `owner`: HMACs of the address. */
  async addFounder(account: AccountId, { address, base }: LinkOwner, email: string): Promise<void> {
    const id = newMemberId()
    const sealed = await seal(email, sealedFor(id), this.#ports.keySecret)
    await this.#store.addFounder({ id, account, address, base, sealed, role: 'owner' }, this.#ports.nowMs())
  }

  /** The invitation of a link, unused. `use` is false if it was used meanwhile. */
  async invitation(token: string): Promise<Result<Membership & { readonly use: () => Promise<boolean> }, Failure>> {
    const hash = await sha256(token)
    const found = INVITATION_TOKEN.test(token) ? await this.#store.invitation(hash) : null
    if (found === null) return err(noInvitation('was used, revoked or replaced by a newer one'))
    if (found.until <= this.#ports.nowMs()) return err(noInvitation('has expired'))
    return ok({ ...found, use: () => this.#store.join(found, hash, this.#ports.nowMs()) })
  }

  async #find(account: AccountId, id: string): Promise<Result<Member, Failure>> {
    const row = await this.#store.find(account, id)
    return row === null ? err(NO_MEMBER) : ok(await this.#clear(row))
  }

  async #clear({ sealed, ...row }: MemberRow): Promise<Member> {
    return { ...row, email: await this.#emailOf({ id: row.id, sealed }) }
  }

  async #emailOf({ id, sealed }: Pick<MemberRow, 'id' | 'sealed'>): Promise<string> {
    return (await unseal(sealed, sealedFor(id), this.#ports.keySecret)) ?? ''
  }
}

const newToken = () => `invite_${randomBase58(TOKEN_LENGTH, random)}`

export const noInvitation = (problem: string): Failure => ({
  kind: 'not_found',
  what: 'This invitation',
  hint: `This invitation ${problem}. Ask the owner of the account for a new one.`,
})
