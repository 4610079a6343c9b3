// The operator's API, mounted under /admin. Laws: it does not exist (404) while ADMIN_TOKEN is unset or short; it never
// gets CORS; a key appears in one answer only, the one that created it, and in no URL.

import { type Context, Hono } from 'hono'
import type { Failure } from '../core/failure.ts'
import { err, ok, type Result } from '../core/result.ts'
import { parseWith } from '../core/schema-words.ts'
import { gateBySecret } from '../core/secret.ts'
import { formatCredits } from '../credit/amount.ts'
import type { AccountMeterApi, AccountState } from '../credit/meter-api.ts'
import type { PlanState } from '../credit/plan-period.ts'
import { readJsonBody } from '../edge/body.ts'
import { restFailure } from '../edge/failure-wire.ts'
import { newRequestId, REQUEST_ID_HEADER } from '../edge/request-id.ts'
import type { KeyRow } from '../key/accounts.store.ts'
import { DISPLAY_LENGTH } from '../key/format.ts'
import { AccountsDesk, type Refusal } from './accounts-desk.client.ts'
import {
  AccountId,
  ChangeKey,
  ChangePlan,
  CreateKey,
  EnsureAccount,
  GrantCredits,
  RotateKey,
} from './admin-requests.ts'

export interface AdminEnv {
  readonly ACCOUNTS: D1Database
  readonly KEYS: KVNamespace
  readonly ADMIN_TOKEN?: string
  readonly KEY_SECRET?: string
}

const BODY_MAX_BYTES = 16 * 1024
/** A hash in hex, or the shown prefix of a key. */
const KEY_NAME = new RegExp(`^(?:[0-9a-f]{64}|cq[ts]_[1-9A-HJ-NP-Za-km-z]{${DISPLAY_LENGTH - 4}})$`)

const BAD_KEY_NAME: Failure = {
  kind: 'bad_field',
  issues: [
    {
      path: 'key',
      message: `must be the SHA-256 of the key in hex, or its first ${DISPLAY_LENGTH} characters; never the key`,
    },
  ],
}

type AdminContext = Context<{ Bindings: AdminEnv }>

/** The sub-app; `meterOf` gives the meter of an account from the bindings. */
export function adminRoutes<Env extends AdminEnv>(
  meterOf: (env: Env, account: string) => AccountMeterApi,
): Hono<{ Bindings: AdminEnv }> {
  const app = new Hono<{ Bindings: AdminEnv }>()
  const deskOf = (c: AdminContext) =>
    new AccountsDesk({
      db: c.env.ACCOUNTS,
      kv: c.env.KEYS,
      keySecret: c.env.KEY_SECRET ?? '',
      meterOf: (account) => meterOf(c.env as Env, account),
      nowMs: () => Date.now(),
    })

  app.use('*', async (c, next) => {
    const gate = gateBySecret(c.req.header('authorization'), c.env.ADMIN_TOKEN)
    if (gate === 'closed') return refuse({ kind: 'not_found', what: 'This endpoint' })
    if (gate === 'refused') return refuse({ kind: 'key_malformed', hint: 'The admin token is missing or wrong.' })
    if (!c.env.KEY_SECRET) return refuse({ kind: 'unavailable', what: 'KEY_SECRET is not set on this gateway' })
    return next()
  })

  app.put('/accounts/:id', async (c) => {
    const id = parseWith(AccountId, c.req.param('id'))
    if (!id.ok) return refuse({ kind: 'bad_field', issues: [{ path: 'id', message: id.error[0]?.message ?? '' }] })
    const body = await bodyOf(c, EnsureAccount, {})
    if (!body.ok) return refuse(body.error)
    const { created, account } = await deskOf(c).ensureAccount(id.value, body.value.plan, body.value.credits)
    return c.json({ account: id.value, created, ...sums(account) }, created ? 201 : 200)
  })

  app.get('/accounts/:id', async (c) => {
    const shown = await deskOf(c).account(c.req.param('id'))
    if (!shown.ok) return refuse(shown.error)
    const { row, sums: account, plan, keys } = shown.value
    const held = formatCredits(account.held)
    const lost = formatCredits(account.writtenOff)
    return c.json({
      account: row.id,
      plan: row.plan,
      created: row.created,
      ...sums(account),
      held,
      written_off: lost,
      period: plan === null ? null : period(plan),
      keys: keys.map(shownKey),
    })
  })

  app.put('/accounts/:id/plan', async (c) => {
    const body = await bodyOf(c, ChangePlan)
    if (!body.ok) return refuse(body.error)
    const { plan, credits } = body.value
    if (credits !== undefined && plan !== 'enterprise') {
      const message = 'only for the plan "enterprise": the others have their own'
      return refuse({ kind: 'bad_field', issues: [{ path: 'credits', message }] })
    }
    const state = await deskOf(c).changePlan(c.req.param('id'), plan, credits ?? null)
    return state.ok ? c.json({ account: c.req.param('id'), plan, period: period(state.value) }) : refuse(state.error)
  })

  app.post('/accounts/:id/grants', async (c) => {
    const body = await bodyOf(c, GrantCredits)
    if (!body.ok) return refuse(body.error)
    const id = c.req.param('id')
    const account = await deskOf(c).grant(id, body.value.idempotency_key, body.value.credits)
    return account.ok ? c.json({ account: id, ...sums(account.value) }) : refuse(account.error)
  })

  app.post('/keys', async (c) => {
    const body = await bodyOf(c, CreateKey, {})
    if (!body.ok) return refuse(body.error)
    const issued = await deskOf(c).createKey(body.value)
    return issued.ok ? c.json(issued.value, 201) : refuse(issued.error)
  })

  app.get('/keys', async (c) => {
    const keys = await deskOf(c).keys()
    return c.json({
      keys: keys.map((key) => ({
        ...shownKey(key),
        balance: key.balance === null ? null : formatCredits(key.balance),
      })),
    })
  })

  app.use('/keys/:name/*', async (c, next) => (KEY_NAME.test(c.req.param('name')) ? next() : refuse(BAD_KEY_NAME)))

  app.patch('/keys/:name', async (c) => {
    const body = await bodyOf(c, ChangeKey)
    if (!body.ok) return refuse(body.error)
    const changed = await deskOf(c).changeKey(c.req.param('name'), body.value)
    return changed.ok ? c.json(shownKey(changed.value)) : refuse(changed.error)
  })

  app.post('/keys/:name/rotate', async (c) => {
    const body = await bodyOf(c, RotateKey, {})
    if (!body.ok) return refuse(body.error)
    const issued = await deskOf(c).rotate(c.req.param('name'), body.value.grace_seconds * 1000)
    if (!issued.ok) return refuse(issued.error)
    const { oldEndsMs, ...key } = issued.value
    return c.json({ ...key, old_key_ends: oldEndsMs }, 201)
  })

  app.delete('/keys/:name', async (c) => {
    const name = c.req.param('name')
    const revoked = await deskOf(c).revoke(name)
    if (!revoked.ok) return refuse(revoked.error)
    const { hash, prefix, account, label, revoked: at } = revoked.value
    return c.json({ hash, prefix, account, label, revoked: at })
  })

  app.notFound(() => refuse({ kind: 'not_found', what: 'This endpoint' }))
  app.onError((error) => {
    console.error('admin request failed', error.message)
    return refuse({ kind: 'internal' })
  })
  return app
}

function refuse(failure: Refusal): Response {
  const requestId = newRequestId((bytes) => crypto.getRandomValues(new Uint8Array(bytes)))
  if (failure.kind === 'conflict') {
    const body = { error: true, error_message: failure.message, error_code: '409' }
    return Response.json(body, { status: 409, headers: { [REQUEST_ID_HEADER]: requestId } })
  }
  const { status, headers, body } = restFailure(failure, requestId)
  return new Response(body, { status, headers })
}

/** The parsed body; `empty` stands for a request without one. */
async function bodyOf<T>(
  c: AdminContext,
  schema: Parameters<typeof parseWith<T>>[0],
  empty?: object,
): Promise<Result<T, Failure>> {
  const { body, headers } = c.req.raw
  if (body === null && empty !== undefined) return parsed(schema, empty)
  const json = await readJsonBody({ chunks: body, contentLength: headers.get('content-length') }, BODY_MAX_BYTES)
  return json.ok ? parsed(schema, json.value) : json
}

function parsed<T>(schema: Parameters<typeof parseWith<T>>[0], body: unknown): Result<T, Failure> {
  const result = parseWith(schema, body)
  return result.ok ? ok(result.value) : err({ kind: 'bad_field', issues: result.error })
}

function period({ sinceMs, untilMs, micro, everyMicro }: PlanState) {
  return { since: sinceMs, until: untilMs, credits: formatCredits(micro), renews_with: formatCredits(everyMicro) }
}

function shownKey(key: KeyRow) {
  return { ...key, cap: key.cap === null ? null : formatCredits(key.cap) }
}

function sums(account: AccountState): Record<string, string> {
  return {
    balance: formatCredits(account.available + account.held),
    spent: formatCredits(account.spent),
    granted: formatCredits(account.granted),
  }
}
