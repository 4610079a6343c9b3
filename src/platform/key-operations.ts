// The operator's operations on keys.

import * as z from 'zod'
import type { Operation } from '../edge/operation.ts'
import { ChangeKey, CreateKey, RotateKey } from './admin-requests.ts'
import { AccountId, CreditsText, UnixMs } from './fields.ts'
import {
  ISSUED_EXAMPLE,
  IssuedKey,
  KEY_EXAMPLE,
  KeyName,
  REVOKED_EXAMPLE,
  RevokedKey,
  ROTATED_BEFORE_EXAMPLE,
  RotatedBefore,
  ShownKey,
} from './key-shapes.ts'

const door = 'admin'
const params = { key: KeyName }
/** A key of another account is none. */
const OfAccount = z.strictObject({ account: AccountId.optional() })

export const CREATE_KEY = {
  id: 'createKey',
  method: 'post',
  path: '/admin/keys',
  summary: 'Issue a key, for an account or with a new one',
  description: '`plan`, `terms` and `credits` are of the new account, where `account` is left out.',
  door,
  body: { schema: CreateKey, optional: true, example: { account: 'acme', label: 'bot', products: ['info', 'stream'] } },
  answers: { 201: { description: 'The key, shown this once', schema: IssuedKey, example: ISSUED_EXAMPLE } },
  refusals: [],
} as const satisfies Operation

export const LIST_KEYS = {
  id: 'listKeys',
  method: 'get',
  path: '/admin/keys',
  summary: 'Keys with their last use, newest first, at most 1,000',
  door,
  query: OfAccount,
  answers: {
    200: {
      description: 'The keys',
      schema: z.object({
        keys: z.array(
          z.object({ ...ShownKey.shape, balance: CreditsText.nullable().describe('Of its account, where known') }),
        ),
      }),
      example: { keys: [{ ...KEY_EXAMPLE, balance: '9999.87' }] },
    },
  },
  refusals: [],
} as const satisfies Operation

export const CHANGE_KEY = {
  id: 'changeKey',
  method: 'patch',
  path: '/admin/keys/{key}',
  summary: 'Label, restrict or let expire; what is left out stays, null takes away',
  description: 'Isolates know it within a minute. New ranges hold for calls and new sockets; open ones stay.',
  door,
  params,
  query: OfAccount,
  body: { schema: ChangeKey, optional: false, example: { label: 'bot 2', cap: '500', expires: null } },
  answers: { 200: { description: 'The key as it is now', schema: ShownKey, example: KEY_EXAMPLE } },
  refusals: [404],
} as const satisfies Operation

export const ROTATE_KEY = {
  id: 'rotateKey',
  method: 'post',
  path: '/admin/keys/{key}/rotate',
  summary: 'Replace a key by a new one; both work for a while',
  description:
    'The new key has the old one’s label, products, ranges and expiry, and shares its cap with what was spent under it. ' +
    'A key is replaced once: a retry with the same `idempotency_key` makes no other key, anything else is refused. Where ' +
    'the answer with the key was lost, rotate the new key by the `hash` that the retry shows.',
  door,
  params,
  query: OfAccount,
  body: { schema: RotateKey, optional: true, example: { grace_seconds: 3600, idempotency_key: 'spring' } },
  answers: {
    200: {
      description: 'Done before; the key is not shown again',
      schema: RotatedBefore,
      example: ROTATED_BEFORE_EXAMPLE,
    },
    201: {
      description: 'The new key, shown this once',
      schema: z.object({ ...IssuedKey.shape, old_key_ends: UnixMs }),
      example: { ...ISSUED_EXAMPLE, old_key_ends: 1790003600000 },
    },
  },
  refusals: [404, 409],
} as const satisfies Operation

export const REVOKE_KEY = {
  id: 'revokeKey',
  method: 'delete',
  path: '/admin/keys/{key}',
  summary: 'Revoke a key for good; again is the same',
  description:
    'Refused within 30 s on HTTP; its sockets are closed with 4401 within 60 s. What it used stays recorded.',
  door,
  params,
  query: OfAccount,
  answers: { 200: { description: 'Revoked', schema: RevokedKey, example: REVOKED_EXAMPLE } },
  refusals: [404],
} as const satisfies Operation
