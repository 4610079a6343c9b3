// Who a session is, asked at each of its uses: the operator whose token still is the one, or whoever a key still belongs
// to. Laws: a made-up session costs an address few look-ups; a request that no page of ours made has no session; a changed
// token and a revoked key end theirs; a session that a service key began manages its account and may ask data for it, one
// that an API key began can what the key can.

import { type Failure, KEY_ENDED } from '../../core/failure.ts'
import { keyHashOf } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { SECRET_MIN_LENGTH } from '../../core/secret.ts'
import { type AddressVerdict, callerAddress } from '../address-limiter.ts'
import { sha256 } from '../digest.client.ts'
import type { Identity } from '../identity.ts'
import { admit, type KeyRequirement, withDataAccess } from '../key-record.ts'
import { keyFromD1 } from '../key-records.store.ts'
import { ADMIN_OPERATOR, type Operator, type StaffLookup } from '../staff.ts'
import { findSession, type SessionOrigin } from './session.store.ts'
import { isSameOrigin, sessionToken } from './session.ts'

export interface SessionEnv {
  readonly ACCOUNTS: D1Database
  readonly ADMIN_TOKEN?: string
  /** Counts a request whose session has to be looked up. */
  readonly countLookup: (request: Request) => AddressVerdict
}

const NOT_SIGNED_IN: Failure = {
  kind: 'key_missing',
  hint: 'You are not signed in, or your session has ended: sign in again.',
}
const CROSS_SITE: Failure = {
  kind: 'not_entitled',
  why: 'A page of another site asked with your session: that is refused. Ask with a key, or from the console.',
}

/** Whether a request may have a session at all: where it has a token of its own, that one counts. */
export const hasSession = ({ headers }: Request) =>
  !headers.has('authorization') && sessionToken(headers.get('cookie')) !== null

/** What the session of this request was begun with, and when it ends. */
export async function sessionOf(
  { ACCOUNTS: db, countLookup }: SessionEnv,
  request: Request,
  nowMs: number,
): Promise<Result<SessionOrigin & { readonly expires: number }, Failure>> {
  const token = sessionToken(request.headers.get('cookie'))
  if (token === null) return err(NOT_SIGNED_IN)
  if (!isSameOrigin(request)) return err(CROSS_SITE)
  const { waitMs, limit } = countLookup(request)
  if (waitMs > 0) return err({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
  const session = await findSession(db, token, nowMs)
  return session === null ? err(NOT_SIGNED_IN) : ok(session)
}

/** Whose the hash of an operator's token is, now; null: nobody's any more. */
export async function operatorOf(
  { ADMIN_TOKEN: token }: SessionEnv,
  { kind, tokenHash }: SessionOrigin,
  staff: StaffLookup,
): Promise<Operator | null> {
  if (kind === 'staff') return staff.byHash(tokenHash)
  const isOpen = kind === 'admin' && token !== undefined && token.length >= SECRET_MIN_LENGTH
  return isOpen && (await sha256(token)) === tokenHash ? ADMIN_OPERATOR : null
}

/** The operator whose session this request has. */
export async function sessionOperator(
  env: SessionEnv,
  request: Request,
  staff: StaffLookup,
  nowMs: number,
): Promise<Result<Operator, Failure>> {
  const session = await sessionOf(env, request, nowMs)
  if (!session.ok) return session
  if (session.value.kind === 'key') return err({ kind: 'not_entitled', why: OWNER })
  const operator = await operatorOf(env, session.value, staff)
  return operator === null ? err(NOT_SIGNED_IN) : ok(operator)
}

/** The owner's identity for this entry. `address`: where the request comes from, null where that is not known for sure. */
export async function sessionOwner(
  env: SessionEnv,
  request: Request,
  entry: KeyRequirement,
  address: string | null,
  nowMs: number,
): Promise<Result<Identity, Failure>> {
  const session = await sessionOf(env, request, nowMs)
  if (!session.ok) return session
  if (session.value.kind !== 'key') return err({ kind: 'not_entitled', why: OPERATOR })
  const record = await keyFromD1(env.ACCOUNTS, keyHashOf(session.value.tokenHash))
  if (record === null) return err(KEY_ENDED)
  const isOfPlatform = entry.product === null || entry.product === 'platform'
  return admit(isOfPlatform ? record : withDataAccess(record), entry, nowMs, address)
}

type IdentityResult = Result<Identity, Failure>

/** The owner whose session a request has that brings no key; `entered`: what came of its key. */
export function orSession(
  env: SessionEnv & { readonly TRUST_PROXY: boolean },
  request: Request,
  entry: KeyRequirement,
  byKey: IdentityResult | Promise<IdentityResult>,
): IdentityResult | Promise<IdentityResult> {
  if (byKey instanceof Promise || byKey.ok || byKey.error.kind !== 'key_missing' || !hasSession(request)) return byKey
  const { TRUST_PROXY: isProxyTrusted } = env
  return sessionOwner(env, request, entry, callerAddress(isProxyTrusted, request.headers), Date.now())
}

const OPERATOR = 'You are signed in as operator, and this belongs to an account: sign in with one of its keys.'
const OWNER = 'You are signed in with a key, and this is for operators: sign in with a token of theirs.'
