// GET /admin/search. Law: a whole key is never asked for: it would stand in a URL.

import * as z from 'zod'
import { DISPLAY_LENGTH } from '../../../accounts/format.ts'
import { AccountId } from '../../../core/ids.ts'
import { err } from '../../../core/result.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { SearchText, UnixMs } from '../fields.ts'
import { badField } from '../refusal.ts'
import { REFUSAL_ROWS, RefusalRow } from './refusals.ts'
import { AUDIT_EXAMPLE, AUDIT_ROWS, AuditLine } from './staff.ts'

const MATCHES_MAX = 20

const AccountMatch = z
  .object({ account: AccountId, plan: z.string().describe('Its plan') })
  .meta({ id: 'FoundAccount' })
const KeyMatch = z
  .object({
    hash: z.string().describe('SHA-256 of the key, hex'),
    prefix: z.string().describe('The key’s first twelve characters'),
    label: z.string().describe('Text for people'),
    account: AccountId,
    revoked: UnixMs.nullable().describe('When it was revoked, Unix milliseconds; null: it is not'),
  })
  .meta({ id: 'FoundKey' })

const ACCOUNTS_LIKE =
  'SELECT id AS account, plan FROM accounts WHERE instr(lower(id), lower(?1)) > 0 ORDER BY id LIMIT ?2'
/** As a range, which an index finds; what follows the text in it is of base58. */
const KEYS_LIKE = `SELECT hash, prefix, label, account, revoked FROM keys
  WHERE hash = ?1 OR (prefix >= ?1 AND prefix < ?1 || '~') ORDER BY created DESC LIMIT ?2`

export const search = defineEndpoint({
  id: 'search',
  route: 'GET /admin/search',
  summary: 'Accounts, keys and requests by a part of their names',
  description:
    'Accounts by a part of their name, keys by the beginning of what is shown of them or by their hash, refused requests and ' +
    `actions by request id: at most ${MATCHES_MAX} of each.`,
  query: z.strictObject({ q: SearchText.describe('What to look for; never a key: its first twelve characters') }),
  responses: okResponse(
    'What was found',
    z.object({
      accounts: z.array(AccountMatch).describe('By name'),
      keys: z.array(KeyMatch).describe('Newest first'),
      refusals: z.array(RefusalRow).describe('Refused requests with this id'),
      audit: z.array(AuditLine).describe('Actions with this request id'),
    }),
    { audit: [AUDIT_EXAMPLE] },
  ),
  handle: async ({ query: { q } }, { rows }) => {
    if (/^cq[tsoe]_/.test(q) && q.length > DISPLAY_LENGTH)
      return err(badField('q', `must not be a key or a token: send its first ${DISPLAY_LENGTH} characters`))
    const isKey = /^(?:cq[ts]_|[0-9a-f]{64}$)/.test(q)
    const isRequest = q.startsWith('req_')
    const [accounts, keys, refusals, audit] = await Promise.all([
      rows(AccountMatch, ACCOUNTS_LIKE, q, MATCHES_MAX),
      isKey ? rows(KeyMatch, KEYS_LIKE, q, MATCHES_MAX) : [],
      isRequest
        ? rows(RefusalRow, `${REFUSAL_ROWS} WHERE request_id = ? ORDER BY number DESC LIMIT ?`, q, MATCHES_MAX)
        : [],
      isRequest
        ? rows(AuditLine, `${AUDIT_ROWS} WHERE a.request_id = ? ORDER BY a.number DESC LIMIT ?`, q, MATCHES_MAX)
        : [],
    ])
    return reply(200, { accounts, keys, refusals, audit })
  },
})
