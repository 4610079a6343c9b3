// GET /admin/search. Invariant: a full key is rejected, because the search text is part of a URL.

import * as z from 'zod'
import { DISPLAY_LENGTH } from '../../../accounts/format.ts'
import { AccountId } from '../../../core/ids.ts'
import { err } from '../../../core/result.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { SearchText, UnixMs } from '../fields.ts'
import { badField } from '../refusal.ts'
import { RefusalRow, refusalRows } from './refusals.ts'
import { AUDIT_EXAMPLE, AUDIT_ROWS, AuditLine } from './staff.ts'

const MATCHES_MAX = 20

const AccountMatch = z.object({ account: AccountId, plan: z.string().describe('Plan') }).meta({ id: 'FoundAccount' })
const KeyMatch = z
  .object({
    hash: z.string().describe('SHA-256 of the key, in hex'),
    prefix: z.string().describe('First 12 characters of the key'),
    label: z.string().describe('Display name'),
    account: AccountId,
    revoked: UnixMs.nullable().describe('Revocation time, Unix milliseconds; null: not revoked'),
  })
  .meta({ id: 'FoundKey' })

const ACCOUNTS_LIKE =
  'SELECT id AS account, plan FROM accounts WHERE instr(lower(id), lower(?1)) > 0 ORDER BY id LIMIT ?2'
/** Uses a range query, so that the index applies; `~` sorts after all base58 characters. */
const KEYS_LIKE = `SELECT hash, prefix, label, account, revoked FROM keys
  WHERE hash = ?1 OR (prefix >= ?1 AND prefix < ?1 || '~') ORDER BY created DESC LIMIT ?2`

export const search = defineEndpoint({
  id: 'search',
  route: 'GET /admin/search',
  summary: 'Search accounts, keys and requests',
  description: `Finds accounts by part of their name, keys by prefix or hash, and rejected requests and audit log lines by request id. Each list has at most ${MATCHES_MAX} matches.`,
  query: z.strictObject({ q: SearchText.describe('Search text; for keys, the first 12 characters or the hash') }),
  responses: okResponse(
    'The matches',
    z.object({
      accounts: z.array(AccountMatch).describe('Accounts by name'),
      keys: z.array(KeyMatch).describe('Keys, newest first'),
      refusals: z.array(RefusalRow).describe('Rejected requests with this id'),
      audit: z.array(AuditLine).describe('Audit log entries with this request id'),
    }),
    { audit: [AUDIT_EXAMPLE] },
  ),
  handle: async ({ query: { q } }, platform) => {
    const { rows } = platform
    if (/^cq[tsoe]_/.test(q) && q.length > DISPLAY_LENGTH)
      return err(badField('q', `must not be a full key or token. Send its first ${DISPLAY_LENGTH} characters`))
    const isKey = /^(?:cq[ts]_|[0-9a-f]{64}$)/.test(q)
    const isRequest = q.startsWith('req_')
    const [accounts, keys, found, audit] = await Promise.all([
      rows(AccountMatch, ACCOUNTS_LIKE, q, MATCHES_MAX),
      isKey ? rows(KeyMatch, KEYS_LIKE, q, MATCHES_MAX) : [],
      isRequest ? refusalRows(platform, 'WHERE request_id = ? ORDER BY number DESC LIMIT ?', q, MATCHES_MAX) : [],
      isRequest
        ? rows(AuditLine, `${AUDIT_ROWS} WHERE a.request_id = ? ORDER BY a.number DESC LIMIT ?`, q, MATCHES_MAX)
        : [],
    ])
    return reply(200, { accounts, keys, refusals: found.map(({ number: _, ...row }) => row), audit })
  },
})
