// Authenticates a session on each use: its operator token or key must still be valid. Invariants: session lookups are
// limited per address, so guessing is slow; a request from a page of another site has no session; a changed token or
// revoked key ends its sessions; a session created with a service key can manage the account and read its data; a
// session created with an API key has the rights of that key; a member's role is read on each use.

import { type Failure, KEY_ENDED } from '../../core/failure.ts'
import { keyHashOf } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { SECRET_MIN_LENGTH } from '../../core/secret.ts'
import { type AddressVerdict, callerAddress } from '../address-limiter.ts'
import { sha256 } from '../digest.client.ts'
import type { Identity } from '../identity.ts'
import { admit, type KeyRequirement, withDataAccess } from '../key-record.ts'
import { keyFromD1 } from '../key-records.store.ts'
import { roleRefusal } from '../members.ts'
import { ADMIN_OPERATOR, type Operator, type StaffLookup } from '../staff.ts'
import { findSession } from './session.store.ts'
import { isSameOrigin, type Session, sessionToken } from './session.ts'

export interface SessionEnv {
  readonly ACCOUNTS: D1Database
  readonly ADMIN_TOKEN?: string
  /** Counts a session lookup of this request. */
  readonly countLookup: (request: Request) => AddressVerdict
}

const NOT_SIGNED_IN: Failure = {
  kind: 'key_missing',
  hint: 'You are not signed in, or your session has expired. Sign in again.',
}
const CROSS_SITE: Failure = {
  kind: 'not_entitled',
  why: 'Cross-site request with a session cookie rejected. Use an API key, or the console.',
}

/** True if the request may use a session. An Authorization header takes precedence. */
export const hasSession = ({ headers }: Request) =>
  !headers.has('authorization') && sessionToken(headers.get('cookie')) !== null

/** The request's session. */
export async function sessionOf(
  { ACCOUNTS: db, countLookup }: SessionEnv,
  request: Request,
  nowMs: number,
): Promise<Result<Session, Failure>> {
  const token = sessionToken(request.headers.get('cookie'))
  if (token === null) return err(NOT_SIGNED_IN)
  if (!isSameOrigin(request)) return err(CROSS_SITE)
  const { waitMs, limit } = countLookup(request)
  if (waitMs > 0) return err({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
  const session = await findSession(db, token, nowMs)
  return session === null ? err(NOT_SIGNED_IN) : ok(session)
}

/** The operator who holds the token with this hash; null if there is none. */
export async function operatorOf(
  { ADMIN_TOKEN: token }: SessionEnv,
  { kind, tokenHash }: Pick<Session, 'kind' | 'tokenHash'>,
  staff: StaffLookup,
): Promise<Operator | null> {
  if (kind === 'staff') return staff.byHash(tokenHash)
  const isOpen = kind === 'admin' && token !== undefined && token.length >= SECRET_MIN_LENGTH
  return isOpen && (await sha256(token)) === tokenHash ? ADMIN_OPERATOR : null
}

/** Operator of the request's session. */
export async function sessionOperator(
  env: SessionEnv,
  request: Request,
  staff: StaffLookup,
  nowMs: number,
): Promise<Result<Operator, Failure>> {
  const session = await sessionOf(env, request, nowMs)
  if (!session.ok) return session
  if (isOwners(session.value)) return err({ kind: 'not_entitled', why: OWNER })
  const operator = await operatorOf(env, session.value, staff)
  return operator === null ? err(NOT_SIGNED_IN) : ok(operator)
}

/** Owner identity for this requirement. `address` belongs to the caller; null if unknown or forgeable. */
export async function sessionOwner(
  env: SessionEnv,
  request: Request,
  requirement: KeyRequirement,
  address: string | null,
  nowMs: number,
): Promise<Result<Identity, Failure>> {
  const session = await sessionOf(env, request, nowMs)
  if (!session.ok) return session
  if (!isOwners(session.value)) return err({ kind: 'not_entitled', why: OPERATOR })
  const record = await keyFromD1(env.ACCOUNTS, keyHashOf(session.value.tokenHash))
  if (record === null) return err(KEY_ENDED)
  const isOfPlatform = requirement.product === null || requirement.product === 'platform'
  const { id, member } = session.value
  const beyondRole = isOfPlatform ? null : roleRefusal(member, ['developer'])
  if (beyondRole !== null) return err(beyondRole)
  const identity = admit(isOfPlatform ? record : withDataAccess(record), requirement, nowMs, address)
  return identity.ok ? ok({ ...identity.value, session: { id, member } }) : identity
}

/** True for a session of an account, not of an operator. */
export const isOwners = ({ kind }: Pick<Session, 'kind'>) => kind === 'key' || kind === 'member'

type IdentityResult = Result<Identity, Failure>

/** Owner of the request's session if the request carries no key. `byKey` is the result of key authentication. */
export function orSession(
  env: SessionEnv & { readonly TRUST_PROXY: boolean },
  request: Request,
  requirement: KeyRequirement,
  byKey: IdentityResult | Promise<IdentityResult>,
): IdentityResult | Promise<IdentityResult> {
  if (byKey instanceof Promise || byKey.ok || byKey.error.kind !== 'key_missing' || !hasSession(request)) return byKey
  const { TRUST_PROXY: isProxyTrusted } = env
  return sessionOwner(env, request, requirement, callerAddress(isProxyTrusted, request.headers), Date.now())
}

const OPERATOR = 'You are signed in as an operator. This page needs an account: sign in with one of its keys.'
const OWNER = 'You are signed in with a key. This page is for operators: sign in with an operator token.'
