// Who may begin operations: the key in the payload of a connection_init, and what is told of one that may not. Law: what
// is wrong is told when an operation begins, never before.

import type { Identity } from '../../accounts/identity.ts'
import { type Failure, failureCode, failureMessage } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { bearerToken } from '../../core/secret.ts'
import { admissionFailure, type Refusal } from '../sockets/admission.ts'
import { type Close, codeOf, UNAUTHORIZED, type Wrong } from './messages.ts'

/** The gateway, which alone knows keys. */
export interface KeyDesk {
  /** Who a key for GraphQL belongs to. */
  enter(key: string, address: string | null): Promise<Result<Identity, Failure>>
}

/** Lets sockets in, as far as there is room. */
export interface Door {
  admit(identity: Identity, isGuest: boolean): Promise<Refusal | null>
}

export type InitPayload = Readonly<Record<string, unknown>> | undefined

export const LOST: Wrong = { message: 'The API key was not checked: connect again.', code: 'AUTH_SYSTEM_ERROR' }
const AWAY: Failure = { kind: 'unavailable', what: 'API keys cannot be looked up now' }

/** The names under which a key may come, the first that is there counts. */
const NAMES = ['SERVICE_API_KEY', 'Authorization'] as const

const MISSING: Wrong = {
  message: `No API key: send it in the payload of connection_init as ${NAMES.join(' or ')}.`,
  code: 'MISSING_TOKEN',
}

/** The key as it was sent, with or without "Bearer". */
function presentedKey(payload: InitPayload): Result<string, Wrong> {
  const name = NAMES.find((one) => payload?.[one] !== undefined && payload[one] !== null && payload[one] !== '')
  if (name === undefined) return err(MISSING)
  const value = payload![name]
  if (typeof value !== 'string') return err({ message: `${name} must be a string.`, code: 'INVALID_TOKEN' })
  return ok(bearerToken(value) ?? value)
}

/** What a client is told of a key that does not enter. */
function wrongOf(failure: Failure): Wrong {
  const message = failureMessage(failure)
  switch (failure.kind) {
    case 'key_missing':
      return MISSING
    case 'key_malformed':
    case 'key_unknown':
    case 'key_revoked':
    case 'key_replaced':
    case 'key_expired':
    case 'not_entitled':
      return { message, code: 'INVALID_TOKEN' }
    case 'rate_limited':
      return { message, code: 'RATE_LIMITED' }
    default:
      return { message: `The API key cannot be checked now: ${message}`, code: 'AUTH_SYSTEM_ERROR' }
  }
}

/** Of a guest that stays too long: who has no key need not come again. */
export function endOf(wrong: Wrong): Close {
  if (wrong.code === 'MISSING_TOKEN' || wrong.code === 'INVALID_TOKEN') return UNAUTHORIZED
  return wrong.code === 'CREDITS_EXHAUSTED' ? [4402, 'credits exhausted'] : [1013, 'connect again']
}

/** Who brings the key, once the socket has a place; or what is told of it. Never rejects. */
export async function identityOf(
  payload: InitPayload,
  address: string | null,
  desk: KeyDesk,
  door: Door,
): Promise<Result<Identity, Wrong>> {
  const key = presentedKey(payload)
  if (!key.ok) return key
  const found = await desk.enter(key.value, address).catch((): Result<Identity, Failure> => err(AWAY))
  if (!found.ok) return err(wrongOf(found.error))
  const refusal = await door.admit(found.value, true)
  if (!refusal) return found
  const failure = admissionFailure(refusal, found.value)
  return err({ message: failureMessage(failure), code: codeOf(failureCode(failure)) })
}
