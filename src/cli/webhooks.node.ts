// `npm run admin -- webhook …`: where an account's owner is told that credits run low, over the admin API.

import * as z from 'zod'
import { ok, type Result } from '../core/result.ts'
import { type AdminTarget, callAdmin } from './admin-api.node.ts'

export const WEBHOOK_USAGE = `npm run admin -- webhook set ACCOUNT URL [--thresholds 20%,5%,0] [--new-secret]
npm run admin -- webhook show|test|clear ACCOUNT      where an account is told that its credits run low`

export interface WebhookOptions {
  readonly thresholds?: string | undefined
  readonly 'new-secret'?: boolean | undefined
}

const Anything = z.looseObject({})

const CALLS: Readonly<Record<string, { readonly method: string; readonly path: string }>> = {
  show: { method: 'GET', path: '' },
  test: { method: 'POST', path: '/test' },
  clear: { method: 'DELETE', path: '' },
}

/** Runs one command line; null where it is none of these. */
export async function webhookCommand(
  target: AdminTarget,
  [, action = '', account = '', url, ...rest]: readonly string[],
  options: WebhookOptions,
): Promise<Result<string, string> | null> {
  if (account === '' || rest.length > 0) return null
  const place = `/admin/accounts/${encodeURIComponent(account)}/webhook`
  if (action === 'set' && url !== undefined) {
    const { thresholds, 'new-secret': newSecret } = options
    return shown(target, 'PUT', place, { url, thresholds: thresholds?.split(','), new_secret: newSecret })
  }
  const call = Object.hasOwn(CALLS, action) ? CALLS[action] : undefined
  return call === undefined || url !== undefined ? null : shown(target, call.method, `${place}${call.path}`)
}

async function shown(target: AdminTarget, method: string, path: string, body?: object) {
  const answer = await callAdmin(target, method, path, Anything, body)
  return answer.ok ? ok(JSON.stringify(answer.value, null, 2)) : answer
}
