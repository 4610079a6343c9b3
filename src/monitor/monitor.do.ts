// One object per deployment, named `monitor`. It sums the counters of all isolates. Apart from the log, so that it answers
// when the log does not. It also sends alerts. Invariant: a report is confirmed after its sums are stored.

import { DurableObject } from 'cloudflare:workers'
import { COUNTERS_VERSION } from '../core/counter-reporter.ts'
import { countStart, reportCounters } from '../core/counter-reports.client.ts'
import type { CounterReport } from '../core/counters.ts'
import { orFallback } from '../core/deadline.ts'
import { Egress } from '../core/egress.client.ts'
import { Objects } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'
import { AlertSender } from './alert-sender.do.ts'
import { type AlertEnv, AlertSettings } from './alert-settings.ts'
import type { MonitorApi, Scrape } from './monitor-api.ts'
import { type StoredTotals, Totals } from './totals.ts'

const TOTALS = 'totals'
const SCRAPED_MS = 'scraped'
const STATUS_MAX_MS = 5_000
/** While somebody reads the metrics, isolates report this often. */
const REPORT_MS = 20_000
/** Otherwise this often, for alerts. */
const RARE_REPORT_MS = 300_000
const READ_WITHIN_MS = 600_000
/** Time between checks for alerts. */
const CHECK_MS = 60_000

export class Monitor extends DurableObject<Cloudflare.Env> implements MonitorApi {
  readonly #objects: Objects
  readonly #totals: Totals
  #alerts: AlertSender | null = null
  #hasAlarm = false
  #scrapedMs: number

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#objects = new Objects(env, readVariables(LiveSettings, env))
    this.#totals = new Totals(ctx.storage.kv.get<StoredTotals>(TOTALS))
    this.#scrapedMs = ctx.storage.kv.get<number>(SCRAPED_MS) ?? 0
    countStart('Monitor')
  }

  async report(report: CounterReport): ReturnType<MonitorApi['report']> {
    const nowMs = Date.now()
    await this.#ensureAlarm(nowMs)
    // The response is sent only after this write.
    if (this.#totals.add(report, nowMs)) this.ctx.storage.kv.put(TOTALS, this.#totals.stored)
    return { v: COUNTERS_VERSION, everyMs: nowMs - this.#scrapedMs < READ_WITHIN_MS ? REPORT_MS : RARE_REPORT_MS }
  }

  async scrape(): Promise<Scrape> {
    this.#scrapedMs = Date.now()
    // After a deploy, the first reports arrive before the next scrape.
    this.ctx.storage.kv.put(SCRAPED_MS, this.#scrapedMs)
    const status = await this.#logStatus()
    const nowMs = Date.now()
    reportCounters(this.ctx, this.env)
    return { v: COUNTERS_VERSION, nowMs, sums: this.#totals.sums(), gauges: this.#totals.gauges(nowMs), status }
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now()
    const settings = readVariables(AlertSettings, this.env)
    const { ALERT_URL: url, CHAIN: chain } = settings
    if (url === '') return
    // First, because the platform drops an alarm that fails too often.
    await this.ctx.storage.setAlarm(nowMs + CHECK_MS)
    const { ALERT_SECRET: secret = '' }: Cloudflare.Env & AlertEnv = this.env
    this.#alerts ??= new AlertSender(this.ctx.storage, new Egress(settings), { url, secret, chain })
    const status = await this.#logStatus()
    const late = this.#totals.gauges(nowMs).find(([name]) => name === 'usage_copy_late_seconds')?.[1] ?? 0
    const [charged, writtenOff] = ['credits_charged', 'credits_written_off'].map((name) => this.#totals.sum(name))
    const sums = { atMs: nowMs, charged: charged ?? 0, writtenOff: writtenOff ?? 0 }
    await this.#alerts.check({ status, usageLateMs: late * 1000, sums })
    reportCounters(this.ctx, this.env)
  }

  /** The alarm runs as long as there is a receiver. The first report after a deploy starts it. */
  async #ensureAlarm(nowMs: number): Promise<void> {
    if (this.#hasAlarm) return
    this.#hasAlarm = true
    const hasReceiver = readVariables(AlertSettings, this.env).ALERT_URL !== ''
    if (hasReceiver && (await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(nowMs + CHECK_MS)
  }

  /** Null if the log does not answer. */
  #logStatus(): Promise<LogStatus | null> {
    return orFallback(this.#objects.statusCache().status(), STATUS_MAX_MS, null, after).catch(() => null)
  }
}
