// The first account of a gateway and its API key. Invariant: the account ends up with one active key of this command, although
// the command may be interrupted after the gateway has created a key and before the key is stored.

import * as z from 'zod'
import type { Responses } from '../../console/responses.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { ensureAccount } from '../accounts.node.ts'
import { GatewayClient } from '../gateway.node.ts'
import { SECRETS_FILE } from '../secrets-file.node.ts'

const ACCOUNT = 'main'
const LABEL = 'first key'
const CREDITS = '100000'

const Issued = z.looseObject({ key: z.string() })

/** Creates both and returns the key. A key that nobody has seen is revoked. */
export async function createFirstKey(url: string, token: string): Promise<Result<string, string>> {
  const target = { url, token, tokenFrom: `ADMIN_TOKEN of ${SECRETS_FILE}`, isOwn: false }
  const gateway = new GatewayClient(target, { options: [], arguments: [] }, () => undefined)
  const made = await ensureAccount(gateway, ACCOUNT, { credits: CREDITS })
  if (!made.ok) return made
  const listed = await gateway.request<Responses['listKeys']>('GET', `/admin/keys?account=${ACCOUNT}`, ['keys'])
  if (!listed.ok) return listed
  const lost = listed.value.keys.filter((key) => key.label === LABEL && key.revoked === null && key.last_used === null)
  for (const { hash } of lost) {
    const revoked = await gateway.request('DELETE', `/admin/keys/${hash}`)
    if (!revoked.ok) return revoked
  }
  const issued = await gateway.request('POST', '/admin/keys', ['key'] as never[], { account: ACCOUNT, label: LABEL })
  if (!issued.ok) return issued
  const parsed = Issued.safeParse(issued.value)
  return parsed.success ? ok(parsed.data.key) : err(`${url} created a key without showing it`)
}
