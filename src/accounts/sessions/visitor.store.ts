// Who a session is, asked at each of its uses: the operator whose token still is the one, or whoever a key still belongs
// to. Laws: a made-up session costs an address few look-ups; a request that no page of ours made has no session; a changed
// token and a revoked key end theirs; a session that a service key began manages its account and may ask data for it, one
// that an API key began can what the key can.

import { type Failure, KEY_ENDED } from '../../core/failure.ts'
import { keyHashOf } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { SECRET_MIN_LENGTH } from '../../core/secret.ts'
import { type AddressVerdict, callerAddress } from '../address-gate.ts'
import { sha256 } from '../digest.client.ts'
import type { Identity } from '../identity.ts'
import { keyFromD1 } from '../key-records.store.ts'
import { admit, type Entry, forData } from '../record.ts'
import { type FindStaff, HOLDER, type Operator } from '../staff.ts'
import { findSession, type SessionOrigin } from './session.store.ts'
import { isOwnPage, sessionToken } from './session.ts'

export interface VisitorEnv {
  readonly ACCOUNTS: D1Database
  readonly ADMIN_TOKEN?: string
  /** Counts a request whose session has to be looked up. */
  readonly visited: (request: Request) => AddressVerdict
}

const ENDED: Failure = { kind: 'key_missing', hint: 'You are not signed in, or your session has ended: sign in again.' }
const ELSEWHERE: Failure = {
  kind: 'not_entitled',
  why: 'A page of another site asked with your session: that is refused. Ask with a key, or from the console.',
}

/** Whether a request may have a session at all: where it has a token of its own, that one counts. */
export const hasSession = ({ headers }: Request) =>
  !headers.has('authorization') && sessionToken(headers.get('cookie')) !== null

/** What the session of this request was begun with, and when it ends. */
export async function sessionOf(
  { ACCOUNTS: db, visited }: VisitorEnv,
  request: Request,
  nowMs: number,
): Promise<Result<SessionOrigin & { readonly expires: number }, Failure>> {
  const token = sessionToken(request.headers.get('cookie'))
  if (token === null) return err(ENDED)
  if (!isOwnPage(request)) return err(ELSEWHERE)
  const { waitMs, limit } = visited(request)
  if (waitMs > 0) return err({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
  const session = await findSession(db, token, nowMs)
  return session === null ? err(ENDED) : ok(session)
}

/** Whose the hash of an operator's token is, now; null: nobody's any more. */
export async function operatorOf(
  { ADMIN_TOKEN: token }: VisitorEnv,
  { kind, tokenHash }: SessionOrigin,
  staff: FindStaff,
): Promise<Operator | null> {
  if (kind === 'staff') return staff.ofHash(tokenHash)
  const isOpen = kind === 'admin' && token !== undefined && token.length >= SECRET_MIN_LENGTH
  return isOpen && (await sha256(token)) === tokenHash ? HOLDER : null
}

/** The operator whose session this request has. */
export async function visitingOperator(
  env: VisitorEnv,
  request: Request,
  staff: FindStaff,
  nowMs: number,
): Promise<Result<Operator, Failure>> {
  const session = await sessionOf(env, request, nowMs)
  if (!session.ok) return session
  if (session.value.kind === 'key') return err({ kind: 'not_entitled', why: OWNER })
  const operator = await operatorOf(env, session.value, staff)
  return operator === null ? err(ENDED) : ok(operator)
}

/** The owner's identity for this entry. `address`: where the request comes from, null where that is not known for sure. */
export async function visitingOwner(
  env: VisitorEnv,
  request: Request,
  entry: Entry,
  address: string | null,
  nowMs: number,
): Promise<Result<Identity, Failure>> {
  const session = await sessionOf(env, request, nowMs)
  if (!session.ok) return session
  if (session.value.kind !== 'key') return err({ kind: 'not_entitled', why: OPERATOR })
  const record = await keyFromD1(env.ACCOUNTS, keyHashOf(session.value.tokenHash))
  if (record === null) return err(KEY_ENDED)
  const isOfPlatform = entry.product === null || entry.product === 'platform'
  return admit(isOfPlatform ? record : forData(record), entry, nowMs, address)
}

type Entered = Result<Identity, Failure>

/** The owner whose session a request has that brings no key; `entered`: what came of its key. */
export function orVisitor(
  env: VisitorEnv & { readonly TRUST_PROXY: boolean },
  request: Request,
  entry: Entry,
  entered: Entered | Promise<Entered>,
): Entered | Promise<Entered> {
  if (entered instanceof Promise || entered.ok || entered.error.kind !== 'key_missing' || !hasSession(request))
    return entered
  const { TRUST_PROXY: isProxyTrusted } = env
  return visitingOwner(env, request, entry, callerAddress(isProxyTrusted, request.headers), Date.now())
}

const OPERATOR = 'You are signed in as operator, and this belongs to an account: sign in with one of its keys.'
const OWNER = 'You are signed in with a key, and this is for operators: sign in with a token of theirs.'
