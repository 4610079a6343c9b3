// What an account's own keys may do with it. Laws (test/platform/own-keys.worker.test.ts): only a service key that nothing
// restricts makes, changes, rotates or revokes keys, sets a webhook or orders credits, so that no key widens itself; every
// service key may revoke itself; no key reaches another account.

import type * as z from 'zod'
import { type Failure, KEY_ENDED } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { formatCredits } from '../credit/amount.ts'
import { type KeyRow, pipelineRight, restrictionOf } from '../key/key-row.ts'
import { CreditsText } from './fields.ts'
import { KEY_EXAMPLE, ShownKey, shownKey } from './key-shapes.ts'
import type { Keys, OwnKeyRow } from './platform-api.ts'

export const OWN_KEYS_PATH = '/platform/keys/'
export const OWN_KEY_PATH = '/platform/keys/{key}' as const

const FREE = 'Free of charge, with or without the last slash.'
export const FOR_READING = `${FREE} With an API or a service key.`
export const FOR_MANAGING =
  'Free of charge. With a service key that nothing restricts: it has no cap, no ranges, no end, and `pipelines` is `all`, so ' +
  'that no key comes to more than it may.'

/** Why this key may not manage keys, null where it may. It is asked of the table: nothing that travels with a call knows all of it. */
export function mayNotManage(key: KeyRow | null): Failure | null {
  if (key === null) return notThis('is not known any more')
  if (key.kind !== 'service') return notThis('is an API key (cqt_)')
  if (key.replaced_by !== null) return notThis('was replaced by another one')
  const restriction = restrictionOf(key)
  if (restriction !== null) return notThis(restriction)
  // It would make itself one that may touch all.
  return pipelineRight(key) === 'own' ? notThis('may touch its own pipelines alone') : null
}

/** The key that calls, where it may manage keys. */
export async function manager(keys: Pick<Keys, 'hashed'>, keyHash: string): Promise<Result<KeyRow, Failure>> {
  const key = await keys.hashed(keyHash)
  const refused = mayNotManage(key)
  return refused === null && key !== null ? ok(key) : err(refused ?? KEY_ENDED)
}

function notThis(what: string): Failure {
  const why = `This key ${what}, and an account is managed with a service key (cqs_) that nothing restricts: no cap, no ranges, no end, all pipelines`
  return { kind: 'not_entitled', why: `${why}. Use such a key, or ask the operator.` }
}

/** A key of the account, as its owner sees it. */
export const OwnedKey = ShownKey.extend({
  cap_remaining: CreditsText.nullable().describe('What is left of its cap; null: no cap, or the meter did not answer'),
  spent_30_days: CreditsText.nullable().describe(
    'What its calls, minutes and rows cost in the last 30 days, as far as known; null: the meter did not answer',
  ),
}).meta({ id: 'OwnedKey' })
export const OWNED_EXAMPLE = { ...KEY_EXAMPLE, cap_remaining: '996.5', spent_30_days: '3.5' }

export function ownedKey({ spent, capLeft, ...key }: OwnKeyRow): z.infer<typeof OwnedKey> {
  const text = (micro: number | null) => (micro === null ? null : formatCredits(micro))
  return { ...shownKey(key), cap_remaining: key.cap === null ? null : text(capLeft), spent_30_days: text(spent) }
}
