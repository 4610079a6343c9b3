// Each endpoint on account resources exists twice: below /admin for the operator and below /platform for the account's
// own
// keys. Invariants (test/http/platform/own-account.worker.test.ts): only an unrestricted service key can create,
// change, rotate or revoke keys, set a webhook or order credits, so that no key can extend its own rights; every
// service key can revoke itself; no key reaches another account.

import type * as z from 'zod'
import type { Identity } from '../../accounts/identity.ts'
import { type KeyRow, pipelineRight, restrictionOf, rootOf } from '../../accounts/key-row.ts'
import type { ChangeAuthor } from '../../accounts/members.ts'
import { type Failure, KEY_ENDED } from '../../core/failure.ts'
import { AccountId, type KeyHash } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Operation } from '../operation.ts'
import {
  type Body,
  type Definition,
  defineEndpoint,
  type Endpoint,
  type ParsedBody,
  type Reply,
  type Responses,
} from './endpoint.ts'
import { AccountFilter, KEY_PARAMS } from './key-shapes.ts'
import { serviceKeyRefusal } from './operation-roles.ts'
import type { KeyRef, Keys, Platform } from './platform-api.ts'
import type { Refusal } from './refusal.ts'

const FREE_TEXT = 'Free of charge. The trailing slash is optional.'
export const READ_ACCESS_TEXT = `${FREE_TEXT} Accepts API keys and service keys.`
export const MANAGE_ACCESS_TEXT =
  'Free of charge. Requires an unrestricted service key (no cap, ranges or expiry, and `pipelines` is `all`), so that no key can extend its own rights.'

/**
 * Failure if this key may not manage the account, else null. Needs the row from the table, because the identity of a
 * call lacks some restrictions.
 */
export function managementRefusal(key: KeyRow | null): Failure | null {
  if (key === null) return keyCannotManage('no longer exists')
  if (key.kind !== 'service') return keyCannotManage('is an API key (cqt_)')
  if (key.replaced_by !== null) return keyCannotManage('was replaced by a newer one')
  const restriction = restrictionOf(key)
  if (restriction !== null) return keyCannotManage(restriction)
  // Such a key could otherwise create a key with more rights than its own.
  return pipelineRight(key) === 'own' ? keyCannotManage('is limited to its own pipelines') : null
}

/** Row of the calling key, if it may manage the account. */
export async function managingKey(keys: Pick<Keys, 'findByHash'>, keyHash: KeyHash): Promise<Result<KeyRow, Failure>> {
  const key = await keys.findByHash(keyHash)
  const refused = managementRefusal(key)
  return refused === null && key !== null ? ok(key) : err(refused ?? KEY_ENDED)
}

/** Failure if the caller is a member whose role does not reach the named key, else null. */
export async function namedKeyRefusal(
  keys: Pick<Keys, 'find'>,
  identity: Pick<Identity, 'account' | 'session'>,
  name: string,
): Promise<Failure | null> {
  if (!identity.session?.member) return null
  const key = await keys.find({ name, account: identity.account })
  return key.ok ? serviceKeyRefusal(identity, key.value.kind) : null
}

function keyCannotManage(problem: string): Failure {
  const need =
    'Managing an account needs an unrestricted service key (cqs_): no cap, ranges or expiry, and all pipelines'
  return { kind: 'not_entitled', why: `This key ${problem}. ${need}.` }
}

export const ACCOUNT_PARAMS = { id: AccountId }

/** The caller as author of a change. `key`: the calling key. */
export const authorOf = ({ session }: Identity, key: KeyRow): ChangeAuthor => {
  return { root: rootOf(key), member: session?.member?.id ?? null }
}

/** Account of a call; `author`: null is the operator. */
interface AccountTarget {
  readonly account: AccountId
  readonly author: ChangeAuthor | null
}

interface Owner {
  readonly account: AccountId
  readonly author: ChangeAuthor
}

interface KeyTarget {
  readonly key: KeyRef
  /** Account and root of the calling key; null: the operator. */
  readonly owner: { readonly account: AccountId; readonly by: string } | null
}

interface TargetCall {
  readonly params: { readonly id?: string; readonly key?: string }
  readonly query: unknown
}

interface Resource<Target> {
  readonly admin: Pick<Operation, 'params' | 'query'>
  readonly own: Pick<Operation, 'params'>
  /** Target of an operator call. */
  readonly adminTarget: (call: TargetCall, platform: Platform) => Promise<Result<Target, Refusal>>
  /** Target of a call with a managing key of the account. */
  readonly ownerTarget: (call: TargetCall, owner: Owner) => Target
}

export const ACCOUNT: Resource<AccountTarget> = {
  admin: { params: ACCOUNT_PARAMS },
  own: {},
  adminTarget: async ({ params: { id: account = '' } }, { accounts }) => {
    const missing = await accounts.missingFailure(account)
    return missing === null ? ok({ account, author: null }) : err(missing)
  },
  ownerTarget: (_, owner) => owner,
}

export const KEY: Resource<KeyTarget> = {
  admin: { params: KEY_PARAMS, query: AccountFilter },
  own: { params: KEY_PARAMS },
  adminTarget: async ({ params: { key: name = '' }, query }) => {
    const { account } = query as z.infer<typeof AccountFilter>
    return ok({ key: { name, account }, owner: null })
  },
  ownerTarget: ({ params: { key: name = '' } }, { account, author }) => ({
    key: { name, account },
    owner: { account, by: author.root },
  }),
}

type EndpointOptions = Definition & { readonly body?: Body }

/** One operation on an account resource as two endpoints: the operator's and the owner's. */
export function adminAndOwnEndpoints<
  Target,
  const Sent extends Body | undefined = undefined,
  const All extends Responses = Responses,
>(
  resource: Resource<Target>,
  {
    admin,
    own,
    handle,
    ...shared
  }: {
    readonly admin: EndpointOptions
    readonly own: EndpointOptions
    readonly body?: Sent
    readonly responses: All
    readonly handle: (
      call: Target & { readonly body: ParsedBody<Sent> },
      platform: Platform,
    ) => Promise<Result<Reply<All>, Refusal>>
  },
): readonly [Endpoint, Endpoint] {
  const handleTarget = async (target: Result<Target, Refusal>, body: unknown, platform: Platform) =>
    target.ok ? handle({ ...target.value, body: body as ParsedBody<Sent> }, platform) : target
  return [
    defineEndpoint({
      ...shared,
      ...resource.admin,
      ...admin,
      handle: async (call, platform) => handleTarget(await resource.adminTarget(call, platform), call.body, platform),
    }),
    defineEndpoint({
      ...shared,
      ...resource.own,
      ...own,
      description: [MANAGE_ACCESS_TEXT, own.description].filter(Boolean).join(' '),
      auth: 'service',
      handle: async (call, platform) => {
        const { account, keyHash } = call.identity
        const caller = await managingKey(platform.keys, keyHash)
        const name = (call.params as TargetCall['params']).key
        const refused = name === undefined ? null : await namedKeyRefusal(platform.keys, call.identity, name)
        if (refused !== null) return err(refused)
        if (!caller.ok) return caller
        const author = authorOf(call.identity, caller.value)
        return handleTarget(ok(resource.ownerTarget(call, { account, author })), call.body, platform)
      },
    }),
  ]
}
