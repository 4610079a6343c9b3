// The services behind /platform and /admin, on the bindings of the gateway.

import { NO_KEY_SECRET } from '../../accounts/key-ring.store.ts'
import { refusalsIn } from '../../accounts/refusals.store.ts'
import { StaffStore } from '../../accounts/staff.store.ts'
import { sealStreamToken } from '../../accounts/stream-token.client.ts'
import { BackfillStore } from '../../archive/archive/backfill.store.ts'
import { exportsOf } from '../../archive/exports/exports.store.ts'
import { type CheckoutEnv, type CheckoutSettings, checkoutOf } from '../../billing/checkout/checkout-service.client.ts'
import { urlRefusal } from '../../core/egress.client.ts'
import type { UrlSettings } from '../../core/egress.ts'
import { meterOf, type Objects } from '../../core/objects.client.ts'
import { err, ok } from '../../core/result.ts'
import { after } from '../../core/timers.client.ts'
import { SINK_API_VERSION } from '../../pipelines/sink-api.ts'
import { LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import { AccountService } from './account-service.client.ts'
import { AuditStore } from './audit.store.ts'
import { BusinessStore } from './business.store.ts'
import { dataServices } from './data-service.client.ts'
import { KeyService } from './key-service.client.ts'
import { type PipelinePorts, PipelineService } from './pipeline-service.client.ts'
import { PlanService } from './plan-service.client.ts'
import type { ArchiveFilling, Platform } from './platform-api.ts'
import { waitFor } from './refusal.ts'

type Env = Cloudflare.Env

/** Of the gateway's variables, parsed. */
interface PlatformSettings extends CheckoutSettings, UrlSettings {
  readonly CHAIN: string
  readonly MILLION_CREDITS_USD: number | null
  readonly BOOK_HUBS: number
  readonly SIGNUP: 'off' | 'log' | 'http'
  readonly SIGNUP_SETTINGS: { readonly perDay: number }
  readonly TRUST_PROXY: boolean
  readonly RPC_CHAINS: readonly (Parameters<typeof dataServices>[0][number] & { readonly urls: readonly unknown[] })[]
}

/** What the gateway lends. */
export interface PlatformDeps {
  readonly read: Platform['read']
  readonly report: (error: unknown, what: string) => void
  readonly now: () => number
}

export function platformOf(
  env: Env & CheckoutEnv,
  settings: PlatformSettings,
  objects: Objects,
  { read, report, now }: PlatformDeps,
): Platform {
  const { TRUST_PROXY: isProxied } = settings
  const { MILLION_CREDITS_USD: millionMicroUsd, BOOK_HUBS: hubs } = settings
  const meter = (account: string) => meterOf(env, account)
  const refusalOf = (url: string) => urlRefusal(url, settings)
  const ports = { db: env.ACCOUNTS, kv: env.KEYS, keySecret: env.KEY_SECRET ?? '', meterOf: meter, nowMs: now }
  const services = { accounts: new AccountService(ports), keys: new KeyService(ports), plans: new PlanService(ports) }
  const pipelines = new PipelineService({
    ...ports,
    ...sinksOf(objects),
    keys: services.keys,
    after,
    urlRefusal: refusalOf,
    chains: settings.RPC_CHAINS.filter(({ urls }) => urls.length > 0).map(({ name }) => name),
    report: (error) => report(error, 'pipeline'),
  })
  const archive = fillingOf(env, settings, objects)
  const exports = exportsOf(env, settings.CHAIN, env.KEY_SECRET)
  const history = { archive, chain: settings.CHAIN, exports, retention: () => objects.archiver() }
  const dataService = dataServices(settings.RPC_CHAINS)
  const refusals = refusalsIn(env.ACCOUNTS)
  const { ACCOUNTS: db } = env
  const staff = new StaffStore(db, ports.keySecret)
  const ofStaff = { staff, audit: new AuditStore(db), business: new BusinessStore(db) }
  const checkout = checkoutOf(env, settings, {
    grant: (...grant) => services.accounts.grant(...grant),
    report: (error) => report(error, 'checkout'),
    nowMs: now,
  })
  const sealToken: Platform['sealToken'] = async (token) =>
    env.KEY_SECRET
      ? ok(await sealStreamToken({ ...token, holder: crypto.randomUUID() }, env.KEY_SECRET))
      : err(NO_KEY_SECRET)
  const own = {
    ...services,
    ...ofStaff,
    checkout,
    pipelines,
    refusals,
    ...history,
    dataService,
    read,
    sealToken,
    millionMicroUsd,
    signUpsPerDay: settings.SIGNUP === 'off' ? null : settings.SIGNUP_SETTINGS.perDay,
    hubs,
  }
  return { ...own, meterOf: meter, log: () => objects.log(), urlRefusal: refusalOf, isProxied, now }
}

/** Null where the Workers have no archive. */
function fillingOf(env: Partial<Env>, { CHAIN: chain }: PlatformSettings, objects: Objects): Platform['archive'] {
  const { ARCHIVE: bucket, HISTORY: db } = env
  if (!bucket || !db) return null
  const store = new BackfillStore({ chain, bucket, db })
  const backfill: ArchiveFilling['backfill'] = (blocks) => objects.archiver().backfill({ v: LOG_API_VERSION, blocks })
  return { chain, state: (after) => store.state(after), backfill }
}

/** What runs pipelines, as their service asks for it. */
function sinksOf(objects: Pick<Objects, 'sink'>): Pick<PipelinePorts, 'sinkOf' | 'checkTransforms'> {
  return {
    sinkOf: (id) => objects.sink(id),
    // One object of each account checks, so that a record that is refused leaves none behind.
    checkTransforms: async (account, transforms, topic) => {
      const request = { v: SINK_API_VERSION, account, transforms, topic }
      const { fault, wait } = await objects.sink(`check/${account}`).check(request)
      if (wait) return err(waitFor(wait.waitMs, wait.words))
      return ok(fault ? [{ path: `transforms.${fault.name}`, message: fault.message }] : [])
    },
  }
}
