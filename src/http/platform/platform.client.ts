// Creates the services behind /platform and /admin from the gateway's bindings.

import * as z from 'zod'
import { NO_KEY_SECRET } from '../../accounts/key-resolver.store.ts'
import { endOtherSessions, endSessionById, listSessions } from '../../accounts/sessions/session.store.ts'
import { StaffStore } from '../../accounts/staff.store.ts'
import { sealStreamToken } from '../../accounts/stream-token.client.ts'
import { BackfillStore } from '../../archive/archive/backfill.store.ts'
import { exportsOf } from '../../archive/exports/exports.store.ts'
import { billingIn } from '../../billing/checkout/billing-details.store.ts'
import type { CheckoutEnv, CheckoutSettings } from '../../billing/checkout/checkout-service.client.ts'
import { readBoundedText } from '../../core/bounded-text.ts'
import { urlRefusal } from '../../core/egress.client.ts'
import type { UrlSettings } from '../../core/egress.ts'
import type { Failure } from '../../core/failure.ts'
import type { AccountId } from '../../core/ids.ts'
import { logEvent } from '../../core/log.client.ts'
import { meterOf, monitorOf, type Objects } from '../../core/objects.client.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { after, inTurns } from '../../core/timers.client.ts'
import { isReported, type MonitorEnv } from '../../monitor/counter-sink.client.ts'
import type { SinkApi } from '../../pipelines/sink-api.ts'
import { LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import { DEFAULT_REST_MS, restMsOf } from '../../upstream/outcome.ts'
import { alertMailsOf } from '../mail/alert-mails.client.ts'
import type { MailerEnv, MailerSettings } from '../mail/mailer.client.ts'
import { accountsOf, plansOf } from './account-service.client.ts'
import { auditIn } from './audit.store.ts'
import { checkoutFor } from './checkout.client.ts'
import { IncidentStore } from './incidents.store.ts'
import { KeyService } from './key-service.client.ts'
import { PipelineMover } from './pipeline-moves.client.ts'
import { type PipelinePorts, PipelineService } from './pipeline-service.client.ts'
import type { Platform } from './platform-api.ts'
import { RecoveryService } from './recovery-service.client.ts'
import { badField } from './refusal.ts'

type Env = Cloudflare.Env

/** Parsed variables of the gateway. */
interface PlatformSettings extends CheckoutSettings, UrlSettings, MailerSettings {
  readonly CHAIN: string
  readonly FEED_REGION: string | null
  readonly MILLION_CREDITS_USD: number | null
  readonly BOOK_HUBS: number
  readonly SIGNUP_SETTINGS: MailerSettings['SIGNUP_SETTINGS'] & { readonly perDay: number }
  readonly TRUST_PROXY: boolean
  readonly RPC_CHAINS: readonly (Parameters<typeof dataServices>[0][number] & { readonly urls: readonly unknown[] })[]
}

/** Dependencies from the gateway. */
export interface PlatformDeps {
  readonly read: Platform['read']
  readonly sources: Platform['sources']
  readonly members: Platform['members']
  readonly now: () => number
}

export function platformOf(
  env: Env & CheckoutEnv & MonitorEnv & MailerEnv,
  settings: PlatformSettings,
  objects: Pick<Objects, 'log' | 'statusCache' | 'archiver' | 'hasJobs'> & { sink(pipeline: string): SinkApi },
  { read, sources, members, now }: PlatformDeps,
): Platform {
  const { ACCOUNTS: db, USAGE: usage, KEYS: kv, KEY_SECRET: keySecret = '' } = env
  const ports = {
    db,
    usage,
    kv,
    keySecret,
    meterOf: (account: AccountId, region?: string | null) => meterOf(env, account, region ?? settings.FEED_REGION),
    nowMs: now,
  }
  const accounts = accountsOf(ports)
  const keys = new KeyService(ports)
  const pipelinePorts = pipelinePortsOf({ ...ports, keys }, settings, objects)
  return {
    accounts,
    keys,
    members,
    sessions: sessionsIn(db, now),
    plans: plansOf(ports),
    pipelines: new PipelineService(pipelinePorts),
    moves: new PipelineMover(pipelinePorts),
    checkout: checkoutFor({ env, settings, callersMeter: ports.meterOf, now }),
    billing: billingIn(db, now),
    staff: new StaffStore(db, keySecret),
    recovery: new RecoveryService({
      ...ports,
      report: (account, error) => logEvent('account_recovery_failed', { account, error }),
    }),
    audit: auditIn(db),
    incidents: new IncidentStore(db),
    rows: rowsOf(db),
    usageRows: rowsOf(usage),
    meterOf: ports.meterOf,
    alertMails: alertMailsOf(env, settings),
    log: () => objects.log(),
    logStatus: () => objects.statusCache().status(),
    monitor: () => monitorOf(env),
    isCounted: isReported(env),
    sources,
    archive: backfillOf(env, settings, objects),
    retention: objects.hasJobs ? () => objects.archiver() : null,
    inTurns,
    chain: settings.CHAIN,
    exports: exportsOf(env, settings.CHAIN, env.KEY_SECRET),
    read,
    sealToken: async (token) =>
      keySecret === ''
        ? err(NO_KEY_SECRET)
        : ok(await sealStreamToken({ ...token, holder: crypto.randomUUID() }, keySecret)),
    dataService: dataServices(settings.RPC_CHAINS),
    millionMicroUsd: settings.MILLION_CREDITS_USD,
    signUpsPerDay: settings.SIGNUP === 'off' ? null : settings.SIGNUP_SETTINGS.perDay,
    hubs: settings.BOOK_HUBS,
    urlRefusal: (url) => urlRefusal(url, settings),
    isProxied: settings.TRUST_PROXY,
    now,
  }
}

function pipelinePortsOf(
  ports: Pick<PipelinePorts, 'db' | 'keys' | 'keySecret' | 'nowMs'>,
  settings: PlatformSettings,
  objects: Pick<Objects, 'hasJobs'> & { sink(pipeline: string): SinkApi },
): PipelinePorts {
  return {
    ...ports,
    after,
    hasSinks: objects.hasJobs,
    sinkOf: (id) => objects.sink(id),
    urlRefusal: (url) => urlRefusal(url, settings),
    chains: settings.RPC_CHAINS.filter(({ urls }) => urls.length > 0).map(({ name }) => name),
    report: (error) => logEvent('pipeline_call_failed', { error }),
  }
}

function sessionsIn(db: D1Database, now: () => number): Platform['sessions'] {
  return {
    list: (scope) => listSessions(db, scope, now()),
    end: (scope, id, by) => endSessionById(db, scope, id, by, now()),
    endOthers: (scope, except, by) => endOtherSessions(db, scope, except, by, now()),
  }
}

function rowsOf(db: D1Database): Platform['rows'] {
  return async (schema, sql, ...values) => {
    const found = db.prepare(sql).bind(...values.map((value) => value ?? null))
    return z.array(schema).parse((await found.all()).results)
  }
}

/** Null if there is no archive. */
function backfillOf(
  env: Partial<Env>,
  { CHAIN: chain }: PlatformSettings,
  objects: Pick<Objects, 'archiver'>,
): Platform['archive'] {
  const { ARCHIVE: bucket, HISTORY: db } = env
  if (!bucket || !db) return null
  const store = new BackfillStore({ chain, bucket, db })
  return {
    chain,
    state: (after) => store.state(after),
    backfill: (request) => objects.archiver().backfill({ v: LOG_API_VERSION, ...request }),
    uploadCheckpoint: (file, chunks) => store.uploadCheckpoint(file, chunks as ReadableStream<Uint8Array>),
    recordAttempt: (attempt) => store.recordAttempt(attempt),
  }
}

const BODY_MAX_BYTES = 4 * 1024 * 1024

interface ChainConfig {
  readonly name: string
  readonly dataUrl?: string | undefined
  readonly timeoutMs: number
}

const unavailable = (chain: string, retryAfterMs = DEFAULT_REST_MS): Failure => ({
  kind: 'unavailable',
  what: `The data service of ${chain} is unavailable`,
  retryAfterMs,
})

function dataServices(chains: readonly ChainConfig[]): Platform['dataService'] {
  return (name, path) => {
    const chain = chains.find((each) => each.name === name)
    return chain?.dataUrl === undefined ? null : queryDataService(chain.dataUrl, chain, path)
  }
}

async function queryDataService(
  dataUrl: string,
  { name, timeoutMs }: ChainConfig,
  path: string,
): Promise<Result<string, Failure>> {
  try {
    const { username, password, origin, pathname } = new URL(dataUrl)
    const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    const authorization = username === '' ? {} : { authorization: `Basic ${btoa(user)}` }
    const url = `${origin}${pathname.replace(/\/$/, '')}/v1/${name}/${path}`
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { headers: authorization, redirect: 'manual', signal })
    const read = await readBoundedText(response.body, BODY_MAX_BYTES)
    if (response.status === 400) return err(badField('', 'the data service of this chain rejected these values'))
    if (response.status === 404) return err({ kind: 'not_found', what: 'This wallet or resource of the chain' })
    const restMs = restMsOf(response.headers.get('retry-after'), Date.now())
    if (response.status !== 200 || !('text' in read)) return err(unavailable(name, restMs ?? undefined))
    const value = JSON.parse(read.text) as { readonly data?: unknown; readonly error?: unknown } | null
    // The content is passed on, but it must be an envelope without an error.
    return (value?.data ?? null) === null || value?.error === true ? err(unavailable(name)) : ok(read.text)
  } catch {
    return err(unavailable(name))
  }
}
