// Sessions of members. A member acts with a service key of the account that nobody has, which is created when it is first
// needed. Invariant: a person can switch only to accounts of the same address.

import type { KeyKind } from '../../accounts/format.ts'
import type { Membership } from '../../accounts/members.ts'
import type { SessionOrigin } from '../../accounts/sessions/session.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Keys } from '../platform/platform-api.ts'
import type { Refusal } from '../platform/refusal.ts'
import type { MemberService } from './member-service.client.ts'

interface SignInPorts {
  readonly keys: Pick<Keys, 'createOwn' | 'signUpKeys'>
  readonly members: Pick<MemberService, 'accountsOf'>
}

const LABEL = 'console sign-up'
const keyFailure = (refused: Refusal) =>
  err<Failure>(refused.kind === 'conflict' ? { kind: 'unavailable', what: 'A key', hint: refused.message } : refused)

export class MemberSignIn {
  readonly #ports: SignInPorts

  constructor(ports: SignInPorts) {
    this.#ports = ports
  }

  async originOf({ account, member }: Membership): Promise<Result<SessionOrigin, Failure>> {
    // Only the key created here counts: the owner may have restricted keys with the same label.
    const known = await this.#ports.keys.signUpKeys(account, LABEL)
    if (known.hash !== null) return ok({ kind: 'member', tokenHash: known.hash, account, member })
    const made = await this.#createKey(account, 'service', LABEL, known.service)
    return made.ok ? ok({ kind: 'member', tokenHash: made.value.hash, account, member }) : keyFailure(made.error)
  }

  /** The first API key of a trial, shown once; null: the account has or had one. */
  async firstKey(account: AccountId, label: string): Promise<Result<string | null, Failure>> {
    const { api } = await this.#ports.keys.signUpKeys(account, LABEL)
    if (api > 0) return ok(null)
    const made = await this.#createKey(account, 'api', label, api)
    if (!made.ok) return keyFailure(made.error)
    return ok('key' in made.value ? made.value.key : null)
  }

  /**
   * The idempotency key makes concurrent links create one key. It contains a space, which owners cannot send, so it never
   * collides with theirs.
   */
  #createKey(account: AccountId, kind: KeyKind, label: string, made: number) {
    return this.#ports.keys.createOwn({ account, label, kind, request: `sign-up ${kind} ${made}` })
  }

  /** Accounts that a member can switch to, the current one included. */
  accountsOf(member: string): Promise<readonly Membership[]> {
    return this.#ports.members.accountsOf(member)
  }

  /** Origin of a session of the same person in another account. */
  async switchTo(member: string, account: AccountId): Promise<Result<SessionOrigin, Failure>> {
    const membership = (await this.accountsOf(member)).find((each) => each.account === account)
    return membership === undefined
      ? err({ kind: 'not_entitled', why: 'You are not a member of this account.' })
      : this.originOf(membership)
  }
}
