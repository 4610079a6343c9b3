// `npm run admin -- account … | key …`: accounts, plans, grants and the care of keys, over the admin API. Law: a new
// key is printed once; keys that are named are sent as their hash.

import { createHash } from 'node:crypto'
import * as z from 'zod'
import { err, ok, type Result } from '../core/result.ts'
import { parseKey } from '../key/format.ts'
import { type AdminTarget, callAdmin } from './admin-api.node.ts'
import { parseTerms } from './terms.node.ts'

/** The commands, for the usage text. */
export const ACCOUNT_USAGE = `npm run admin -- account create ID [--plan NAME] [--terms TERMS] [--credits N]
                               N once and for good, in place of the first period's
npm run admin -- account show ID
npm run admin -- account plan ID PLAN [--terms TERMS]  takes effect now; TERMS where the plan allows it
npm run admin -- account grant ID CREDITS --id TEXT   once per TEXT; grants do not expire
npm run admin -- key issue ACCOUNT [--kind api|service] [--label TEXT] [--products a,b] [--expires 2027-01-31]
                               [--cap CREDITS]      what the key may spend in all
                               [--ranges 192.0.2.0/24,2001:db8::/32]  where it may be used from
npm run admin -- key list [ACCOUNT]
npm run admin -- key change KEY [--label TEXT] [--products a,b] [--expires 2027-01-31|never]
                               [--cap CREDITS|none] [--ranges a,b|none]
npm run admin -- key rotate KEY [--grace SECONDS] [--id TEXT]  the old key works for SECONDS more (86400);
                               once per key, a retry with the same TEXT makes no other one
npm run admin -- key revoke KEY                       KEY: the key, its first 12 characters or its hash`

/** Options of these commands, as `parseArgs` gives them. */
export interface AccountOptions {
  readonly plan?: string | undefined
  readonly terms?: string | undefined
  readonly credits?: string | undefined
  readonly id?: string | undefined
  readonly kind?: string | undefined
  readonly label?: string | undefined
  readonly products?: string | undefined
  readonly expires?: string | undefined
  readonly grace?: string | undefined
  readonly cap?: string | undefined
  readonly ranges?: string | undefined
}

const Anything = z.looseObject({})
const Issued = z.object({
  key: z.string().optional(),
  prefix: z.string(),
  account: z.string(),
  old_key_ends: z.number().optional(),
})
const Listed = z.object({ keys: z.array(z.looseObject({})) })

type Answer = Promise<Result<string, string>>
type Command = (target: AdminTarget, words: readonly string[], options: AccountOptions) => Answer

const COMMANDS: Readonly<Record<string, { readonly words: readonly number[]; readonly run: Command }>> = {
  'account create': {
    words: [1],
    run: async (target, [id = ''], { plan, credits, ...options }) => {
      const terms = termsOf(options)
      return terms.ok ? shown(target, 'PUT', account(id), { plan, credits, ...terms.value }) : terms
    },
  },
  'account show': { words: [1], run: (target, [id = '']) => shown(target, 'GET', account(id)) },
  'account plan': {
    words: [2],
    run: async (target, [id = '', plan], options) => {
      const terms = termsOf(options)
      return terms.ok ? shown(target, 'PUT', `${account(id)}/plan`, { plan, ...terms.value }) : terms
    },
  },
  'account grant': {
    words: [2],
    run: (target, [id = '', credits], { id: grant }) =>
      shown(target, 'POST', `${account(id)}/grants`, { credits, idempotency_key: grant }),
  },
  'key issue': {
    words: [1],
    run: async (target, [owner], options) => {
      const change = changeOf(options)
      return change.ok ? issued(target, '/admin/keys', { account: owner, kind: options.kind, ...change.value }) : change
    },
  },
  'key list': { words: [0, 1], run: (target, [owner]) => list(target, owner) },
  'key change': {
    words: [1],
    run: async (target, [name = ''], options) => {
      const change = changeOf(options)
      return change.ok ? shown(target, 'PATCH', key(name), change.value) : change
    },
  },
  'key rotate': {
    words: [1],
    run: (target, [name = ''], { grace, id }) => {
      const seconds = grace === undefined ? {} : { grace_seconds: Number(grace) }
      return issued(target, `${key(name)}/rotate`, { ...seconds, idempotency_key: id })
    },
  },
  'key revoke': { words: [1], run: (target, [name = '']) => shown(target, 'DELETE', key(name)) },
}

/** Runs one command line; null where it is none of these. Answers the text to print, or a sentence that says why not. */
export async function accountCommand(
  target: AdminTarget,
  words: readonly string[],
  options: AccountOptions,
): Promise<Result<string, string> | null> {
  const name = words.slice(0, 2).join(' ')
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined || !command.words.includes(words.length - 2)) return null
  return command.run(target, words.slice(2), options)
}

async function shown(target: AdminTarget, method: string, path: string, body?: object): Answer {
  const answer = await callAdmin(target, method, path, Anything, body)
  return answer.ok ? ok(JSON.stringify(answer.value, null, 2)) : answer
}

async function issued(target: AdminTarget, path: string, body: object): Answer {
  const answer = await callAdmin(target, 'POST', path, Issued, body)
  if (!answer.ok) return answer
  const { key: text, prefix, account: owner, old_key_ends: ends } = answer.value
  const old = ends === undefined ? '' : `; the old key works until ${new Date(ends).toISOString()}`
  if (text === undefined) return ok(`done before: ${prefix} of account ${owner}; the key is not shown again${old}`)
  return ok(`${text}\naccount ${owner}; the key is not shown again${old}`)
}

async function list(target: AdminTarget, owner: string | undefined): Answer {
  const query = owner === undefined ? '' : `?account=${encodeURIComponent(owner)}`
  const answer = await callAdmin(target, 'GET', `/admin/keys${query}`, Listed)
  return answer.ok ? ok(JSON.stringify(answer.value.keys, null, 2)) : answer
}

function changeOf({ label, products, expires, cap, ranges }: AccountOptions): Result<object, string> {
  const at = expires === undefined || expires === 'never' ? null : Date.parse(expires)
  if (Number.isNaN(at)) return err('--expires: must be a time such as 2027-01-31 or 2027-01-31T12:00Z, or "never"')
  return ok({
    label,
    products: products?.split(','),
    // An issued key that never expires says nothing; a changed one says null.
    ...(expires === undefined ? {} : { expires: at }),
    ...(cap === undefined ? {} : { cap: cap === 'none' ? null : cap }),
    ...(ranges === undefined ? {} : { ranges: ranges === 'none' ? null : ranges.split(',') }),
  })
}

function termsOf({ terms }: AccountOptions): Result<object, string> {
  const parsed = terms === undefined ? null : parseTerms(terms)
  if (parsed === null) return ok({})
  return parsed.ok ? ok({ terms: parsed.value }) : parsed
}

function account(id: string): string {
  return `/admin/accounts/${encodeURIComponent(id)}`
}

function key(name: string): string {
  const known = parseKey(name).ok ? createHash('sha256').update(name).digest('hex') : name
  return `/admin/keys/${encodeURIComponent(known)}`
}
