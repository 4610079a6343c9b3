// The operator's API, mounted under /admin. Laws: it does not exist (404) while ADMIN_TOKEN is unset or short; it never
// gets CORS; a key appears in one answer only, the one that created it, and in no URL.

import { Hono } from 'hono'
import { gateBySecret } from '../core/secret.ts'
import type { AccountMeterApi } from '../credit/meter-api.ts'
import { accountRoutes } from './account.route.ts'
import { AccountsDesk } from './accounts-desk.client.ts'
import { keyRoutes } from './key.route.ts'
import { KeysDesk } from './keys-desk.client.ts'
import { planRoutes } from './plan.route.ts'
import { PlansDesk } from './plans-desk.client.ts'
import { type AdminApp, type AdminContext, type AdminEnv, refuse } from './serve.route.ts'

/** The sub-app; `meterOf` gives the meter of an account from the bindings. */
export function adminRoutes<Env extends AdminEnv>(meterOf: (env: Env, account: string) => AccountMeterApi): AdminApp {
  const app: AdminApp = new Hono()
  const portsOf = (c: AdminContext) => ({
    db: c.env.ACCOUNTS,
    kv: c.env.KEYS,
    keySecret: c.env.KEY_SECRET ?? '',
    meterOf: (account: string) => meterOf(c.env as Env, account),
    nowMs: () => Date.now(),
  })
  app.use('*', async (c, next) => {
    const gate = gateBySecret(c.req.header('authorization'), c.env.ADMIN_TOKEN)
    if (gate === 'closed') return refuse({ kind: 'not_found', what: 'This endpoint' })
    if (gate === 'refused') return refuse({ kind: 'key_malformed', hint: 'The admin token is missing or wrong.' })
    if (!c.env.KEY_SECRET) return refuse({ kind: 'unavailable', what: 'KEY_SECRET is not set on this gateway' })
    return next()
  })
  planRoutes(app, (c) => new PlansDesk(portsOf(c)))
  accountRoutes(app, (c) => new AccountsDesk(portsOf(c)))
  keyRoutes(app, (c) => new KeysDesk(portsOf(c)))
  app.notFound(() => refuse({ kind: 'not_found', what: 'This endpoint' }))
  app.onError((error) => {
    console.error('admin request failed', error.message)
    return refuse({ kind: 'internal' })
  })
  return app
}
