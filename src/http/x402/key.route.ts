// POST /x402/key: a new key for the account of a wallet, which proves itself with a signed text. The key that was issued
// before ends. Invariant: a text works once, and only for a wallet that has paid here.

import { Hono } from 'hono'
import type * as z from 'zod'
import type { AddressLimiter } from '../../accounts/address-limiter.ts'
import { type IssueKey, walletAccount } from '../../billing/x402/booking.ts'
import type { Login } from '../../billing/x402/login.ts'
import { LoginRequest, type WalletKey } from '../../billing/x402/login-request.ts'
import { isJson, readJsonBody } from '../../core/body.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/validation-errors.ts'
import { infoFailure } from '../../protocol/failure-wire.ts'
import type { Accounts } from '../platform/platform-api.ts'

export interface WalletKeyDeps {
  /** CAIP-2 ids of the networks on which wallets pay. */
  readonly networks: readonly string[]
  /** Public origin of the gateway; empty: that of the request. */
  readonly publicUrl: string
  readonly accounts: Pick<Accounts, 'missingFailure'>
  readonly issueKey: IssueKey
  /** The wallet's Payer: true once per nonce. */
  readonly useNonce: (login: Login) => Promise<boolean>
  readonly gate: AddressLimiter
  readonly addressOf: (request: Request) => string | null
  readonly requestId: () => string
  readonly now: () => number
}

const BODY_MAX_BYTES = 8_192
const NOT_SIGNED: Failure = {
  kind: 'not_entitled',
  why: 'The wallet in the message did not sign it. Sign exactly the message that you send.',
}
const NEVER_PAID: Failure = {
  kind: 'not_found',
  what: 'An account of this wallet',
  hint: 'This wallet has not paid here. Buy credits with POST /x402/credits, which returns a key.',
}

export function walletKeyRoutes(deps: WalletKeyDeps): Hono {
  return new Hono().post('/x402/key', async (c) => {
    const keyRequest = await readKeyRequest(c.req.raw, deps)
    if (!keyRequest.ok) {
      const { status, headers, body } = infoFailure(keyRequest.error, deps.requestId())
      return new Response(body, { status, headers })
    }
    const { account, kind } = keyRequest.value
    const issued = await deps.issueKey(account, 'rotate', kind)
    if (issued === null) throw new Error('a rotation returned no key')
    const { key, hash, prefix, label } = issued
    const reply: z.infer<typeof WalletKey> = { account, key, hash, prefix, label }
    return c.json(reply, 201, { 'cache-control': 'no-store' })
  })
}

interface KeyRequest {
  /** Of the wallet that signed the request. */
  readonly account: AccountId
  readonly kind: z.infer<typeof LoginRequest>['kind']
}

async function readKeyRequest(request: Request, deps: WalletKeyDeps): Promise<Result<KeyRequest, Failure>> {
  const { gate, addressOf, networks, publicUrl, now } = deps
  const { waitMs, limit } = gate.take(addressOf(request), now())
  if (waitMs > 0) return err({ kind: 'rate_limited', retryAfterMs: waitMs, limit })
  if (!isJson(request.headers.get('content-type'))) return err({ kind: 'unsupported_media_type' })
  const source = { chunks: request.body, contentLength: request.headers.get('content-length') }
  const body = await readJsonBody(source, BODY_MAX_BYTES)
  if (!body.ok) return body
  const read = parseWith(LoginRequest, body.value)
  if (!read.ok) return err({ kind: 'bad_field', issues: read.error })
  const { isSignedBy, readLogin } = await import('../../billing/x402/login.ts')
  const { host } = new URL(publicUrl || request.url)
  const login = readLogin(read.value.message, { host, networks, nowMs: now() })
  if (!login.ok) return err(badMessage(login.error))
  if (!(await isSignedBy(login.value.address, read.value))) return err(NOT_SIGNED)
  const account = walletAccount(login.value.address)
  if ((await deps.accounts.missingFailure(account)) !== null) return err(NEVER_PAID)
  return (await deps.useNonce(login.value))
    ? ok({ account, kind: read.value.kind })
    : err(badMessage('was used already. Sign one with a new nonce'))
}

function badMessage(message: string): Failure {
  return { kind: 'bad_field', issues: [{ path: 'message', message }] }
}
