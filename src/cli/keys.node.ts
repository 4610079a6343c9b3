// `npm run keys -- create | list | revoke`: keys of the running gateway, over its admin API. Law: a key is printed once,
// by `create`, and sent nowhere: `revoke` hashes it here.

import { createHash } from 'node:crypto'
import * as z from 'zod'
import { commandLine, refuseArgs } from '../core/command-line.node.ts'
import { ok, type Result } from '../core/result.ts'
import { displayPrefix, parseKey } from '../key/format.ts'
import { type AdminTarget, adminTarget, callAdmin } from './admin-api.node.ts'
import { DEFAULT_STATE } from './dev-file.node.ts'

const USAGE = `npm run keys -- create [--label TEXT] [--credits N] [--account ID] [--kind api|service]
                   without --account and --credits: a key of the demo account;
                   with --credits: a key of a new account with so many credits
npm run keys -- list
npm run keys -- revoke KEY|PREFIX|HASH
Everywhere: --url URL --token ADMIN_TOKEN, or --state DIR of a running "npm start" (default ${DEFAULT_STATE})`

export const KEYS_OPTIONS = {
  label: { type: 'string' },
  credits: { type: 'string' },
  account: { type: 'string' },
  kind: { type: 'string' },
  url: { type: 'string' },
  token: { type: 'string' },
  state: { type: 'string', default: DEFAULT_STATE },
} as const

type Options = { readonly [name in keyof typeof KEYS_OPTIONS]?: string | undefined }

const Created = z.object({ key: z.string(), prefix: z.string(), account: z.string(), kind: z.string() })
const Listed = z.object({
  keys: z.array(
    z.object({
      prefix: z.string(),
      label: z.string(),
      account: z.string(),
      kind: z.string(),
      created: z.number(),
      revoked: z.number().nullable(),
      balance: z.string().nullable(),
    }),
  ),
})
const Revoked = z.object({ prefix: z.string(), label: z.string() })

/** Runs one command; null where it is none. Answers the text to print, or a sentence that says why not. */
export async function keysCommand(words: readonly string[], values: Options): Promise<Result<string, string> | null> {
  const [command, name] = words
  const known = (command === 'revoke' && words.length === 2) || (/^(create|list)$/.test(command ?? '') && !name)
  if (!known) return null
  const target = adminTarget(values)
  if (!target.ok) return target
  if (command === 'create') return create(target.value, values)
  return command === 'list' ? list(target.value) : revoke(target.value, name ?? '')
}

async function create(target: AdminTarget, values: Options): Promise<Result<string, string>> {
  const { label, credits, kind } = values
  const account = values.account ?? (credits === undefined ? 'demo' : undefined)
  const order = { label, credits, kind, account }
  const answer = await callAdmin(target, 'POST', '/admin/keys', Created, order)
  if (!answer.ok) return answer
  const { key, account: owner } = answer.value
  return ok(`${key}\naccount ${owner}; the key is not shown again`)
}

async function list(target: AdminTarget): Promise<Result<string, string>> {
  const answer = await callAdmin(target, 'GET', '/admin/keys', Listed)
  if (!answer.ok) return answer
  const rows = answer.value.keys.map((key) => [
    key.prefix,
    key.kind,
    key.account,
    key.balance ?? '?',
    new Date(key.created).toISOString().slice(0, 16),
    key.revoked === null ? 'active' : `revoked ${new Date(key.revoked).toISOString().slice(0, 16)}`,
    key.label,
  ])
  return ok(table([['prefix', 'kind', 'account', 'balance', 'created', 'state', 'label'], ...rows]))
}

async function revoke(target: AdminTarget, name: string): Promise<Result<string, string>> {
  const isKey = parseKey(name).ok
  const known = isKey ? createHash('sha256').update(name).digest('hex') : name
  const answer = await callAdmin(target, 'DELETE', `/admin/keys/${encodeURIComponent(known)}`, Revoked)
  if (!answer.ok) return answer
  const { prefix, label } = answer.value
  return ok(`revoked ${isKey ? displayPrefix(name) : prefix}${label === '' ? '' : ` (${label})`}`)
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

if (import.meta.main) {
  const { words, values } = commandLine(KEYS_OPTIONS, USAGE, 'words too')
  const outcome = (await keysCommand(words, values)) ?? refuseArgs('', USAGE)
  if (outcome.ok) console.log(outcome.value)
  else {
    console.error(outcome.error)
    process.exitCode = 1
  }
}
