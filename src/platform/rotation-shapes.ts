// Rotations of keys as their operator and their owner order and see them.

import * as z from 'zod'
import { IdempotencyKey, UnixMs } from './fields.ts'
import { ISSUED_EXAMPLE, IssuedKey } from './key-shapes.ts'
import type { RotatedKey, RotationOrder } from './platform-api.ts'

const GRACE_MAX_SECONDS = 30 * 86_400
const grace = `must be whole seconds from 0 to ${GRACE_MAX_SECONDS} (30 days)`

export const RotateKey = z.strictObject({
  grace_seconds: z
    .int(grace)
    .min(0, grace)
    .max(GRACE_MAX_SECONDS, grace)
    .default(86_400)
    .describe('How long the old key still works; 0: it is revoked at once'),
  idempotency_key: IdempotencyKey.optional(),
})

export const OldKeyEnds = UnixMs.describe('When the old key ends, Unix milliseconds')

/** A rotation that was done before: the new key, without itself. */
export const RotatedBefore = IssuedKey.omit({ key: true }).extend({
  old_key_ends: OldKeyEnds,
  repeated: z.literal(true).describe('It was rotated by an earlier call'),
})

const { key: _, ...shown } = ISSUED_EXAMPLE
export const SHOWN_EXAMPLE = shown

export function rotationOf({ grace_seconds: seconds, idempotency_key: id }: z.infer<typeof RotateKey>): RotationOrder {
  return { graceMs: seconds * 1000, id: id ?? null }
}

/** The new key, or what is known of it where it was shown before. */
export function shownRotation({ oldEndsMs, ...rotated }: RotatedKey) {
  const { hash, prefix, account, label, kind } = rotated
  const shown = { hash, prefix, account, label, kind, old_key_ends: oldEndsMs }
  return 'key' in rotated ? { key: rotated.key, ...shown } : { ...shown, repeated: true as const }
}
