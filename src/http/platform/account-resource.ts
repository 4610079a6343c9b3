// What belongs to an account, mounted twice: below /admin for the operator, below /platform for the account's own keys.
// Invariants (test/http/platform/own-account.worker.test.ts): only a service key that nothing restricts makes, changes, rotates or
// revokes keys, sets a webhook or orders credits, so that no key widens itself; every service key may revoke itself; no key
// reaches another account.

import type * as z from 'zod'
import { type KeyRow, pipelineRight, restrictionOf, rootOf } from '../../accounts/key-row.ts'
import { type Failure, KEY_ENDED } from '../../core/failure.ts'
import { AccountId, type KeyHash } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Operation } from '../operation.ts'
import {
  type Answers,
  type Body,
  type Definition,
  defineEndpoint,
  type Endpoint,
  type ParsedBody,
  type Reply,
} from './endpoint.ts'
import { KEY_PARAMS, OfAccount } from './key-shapes.ts'
import type { Keys, NamedKey, Platform } from './platform-api.ts'
import type { Refusal } from './refusal.ts'

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
export async function manager(keys: Pick<Keys, 'hashed'>, keyHash: KeyHash): Promise<Result<KeyRow, Failure>> {
  const key = await keys.hashed(keyHash)
  const refused = mayNotManage(key)
  return refused === null && key !== null ? ok(key) : err(refused ?? KEY_ENDED)
}

function notThis(what: string): Failure {
  const why = `This key ${what}, and an account is managed with a service key (cqs_) that nothing restricts: no cap, no ranges, no end, all pipelines`
  return { kind: 'not_entitled', why: `${why}. Use such a key, or ask the operator.` }
}

export const ACCOUNT_PARAMS = { id: AccountId }

/** The account of a call; `by`: root of its key that calls, null: the operator. */
interface AccountTarget {
  readonly account: AccountId
  readonly by: string | null
}

interface KeyTarget {
  readonly key: NamedKey
  /** The account, and root of its key that calls; null: the operator. */
  readonly owner: { readonly account: AccountId; readonly by: string } | null
}

interface TargetCall {
  readonly params: { readonly id?: string; readonly key?: string }
  readonly query: unknown
}

interface Resource<Target> {
  readonly admin: Pick<Operation, 'params' | 'query'>
  readonly own: Pick<Operation, 'params'>
  /** Of the operator's call. */
  readonly named: (call: TargetCall, platform: Platform) => Promise<Result<Target, Refusal>>
  /** Of the call of a key of the account that may manage it. */
  readonly owned: (call: TargetCall, owner: { readonly account: AccountId; readonly by: string }) => Target
}

export const ACCOUNT: Resource<AccountTarget> = {
  admin: { params: ACCOUNT_PARAMS },
  own: {},
  named: async ({ params: { id: account = '' } }, { accounts }) => {
    const missing = await accounts.missing(account)
    return missing === null ? ok({ account, by: null }) : err(missing)
  },
  owned: (_, owner) => owner,
}

export const KEY: Resource<KeyTarget> = {
  admin: { params: KEY_PARAMS, query: OfAccount },
  own: { params: KEY_PARAMS },
  named: async ({ params: { key: name = '' }, query }) => {
    const { account } = query as z.infer<typeof OfAccount>
    return ok({ key: { name, account }, owner: null })
  },
  owned: ({ params: { key: name = '' } }, owner) => ({ key: { name, account: owner.account }, owner }),
}

type Mount = Definition & { readonly body?: Body }

/** One operation on what belongs to an account, as two endpoints: the operator's and the owner's. */
export function mountTwice<
  Target,
  const Sent extends Body | undefined = undefined,
  const All extends Answers = Answers,
>(
  resource: Resource<Target>,
  {
    admin,
    own,
    answer,
    ...shared
  }: {
    readonly admin: Mount
    readonly own: Mount
    readonly body?: Sent
    readonly answers: All
    readonly answer: (
      call: Target & { readonly body: ParsedBody<Sent> },
      platform: Platform,
    ) => Promise<Result<Reply<All>, Refusal>>
  },
): readonly [Endpoint, Endpoint] {
  const answered = async (target: Result<Target, Refusal>, body: unknown, platform: Platform) =>
    target.ok ? answer({ ...target.value, body: body as ParsedBody<Sent> }, platform) : target
  return [
    defineEndpoint({
      ...shared,
      ...resource.admin,
      ...admin,
      answer: async (call, platform) => answered(await resource.named(call, platform), call.body, platform),
    }),
    defineEndpoint({
      ...shared,
      ...resource.own,
      ...own,
      description: [FOR_MANAGING, own.description].filter(Boolean).join(' '),
      door: 'service',
      answer: async (call, platform) => {
        const { account, keyHash } = call.identity
        const caller = await manager(platform.keys, keyHash)
        const target = caller.ok ? ok(resource.owned(call, { account, by: rootOf(caller.value) })) : caller
        return answered(target, call.body, platform)
      },
    }),
  ]
}
