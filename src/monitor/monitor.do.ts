// One object per deployment, named `monitor`. It sums the counters of all isolates. Apart from the log, so that it answers
// when the log does not. Once a minute it checks the availability of the components, and whether to send alerts. Invariant:
// a report is confirmed after its sums are stored.

import { DurableObject } from 'cloudflare:workers'
import { sha256 } from '../accounts/digest.client.ts'
import { COUNTERS_VERSION } from '../core/counter-reporter.ts'
import { countStart, reportCounters } from '../core/counter-reports.client.ts'
import type { CounterReport } from '../core/counters.ts'
import { orFallback } from '../core/deadline.ts'
import { Egress } from '../core/egress.client.ts'
import { migrate } from '../core/migrate.store.ts'
import { Objects } from '../core/objects.client.ts'
import { after } from '../core/timers.client.ts'
import { LiveSettings, readVariables } from '../core/variables.ts'
import type { LogStatus } from '../protocol/feed/status-shape.ts'
import { AlertSender } from './alert-sender.do.ts'
import { type AlertEnv, AlertSettings } from './alert-settings.ts'
import type { Facts } from './alerts.ts'
import { AvailabilityStore } from './availability.store.ts'
import { checkAvailability } from './availability.ts'
import { FigureStore } from './figures.store.ts'
import {
  type AvailabilityHistory,
  BUNDLE_KEPT_MS,
  bundlePath,
  bundleText,
  componentsOf,
  firstHourOf,
  isBundleEnd,
} from './history.ts'
import { metricFamilies } from './metric-families.ts'
import { figuresOf } from './metric-report.ts'
import type { AlertReport, AlertTest, FiguresAt, MonitorApi, Scrape } from './monitor-api.ts'
import { MONITOR_SCHEMA } from './monitor-schema.ts'
import { type StoredTotals, Totals } from './totals.ts'

const TOTALS = 'totals'
const SCRAPED_MS = 'scraped'
const STATUS_MAX_MS = 5_000
/** While somebody reads the metrics, isolates report this often. */
const REPORT_MS = 20_000
/** Otherwise this often, for alerts and availability. */
const RARE_REPORT_MS = 300_000
const READ_WITHIN_MS = 600_000
/** Time between checks. */
const CHECK_MS = 60_000

export class Monitor extends DurableObject<Cloudflare.Env> implements MonitorApi {
  readonly #objects: Objects
  readonly #totals: Totals
  readonly #availability: AvailabilityStore
  readonly #figures: FigureStore
  readonly #alerts: AlertSender
  /** Of the last check. It is read until the next one. */
  #history: { readonly ofMs: number; readonly value: Promise<AvailabilityHistory> } | null = null
  /** Texts of bundles by their end, because callers without a key can ask for them. */
  readonly #bundles = new Map<number, string>()
  #hasAlarm = false
  #scrapedMs: number

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    this.#objects = new Objects(env, readVariables(LiveSettings, env))
    this.#totals = new Totals(ctx.storage.kv.get<StoredTotals>(TOTALS))
    migrate(ctx.storage, MONITOR_SCHEMA)
    this.#availability = new AvailabilityStore(ctx.storage)
    this.#figures = new FigureStore(ctx.storage.sql)
    this.#alerts = new AlertSender(ctx.storage)
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

  history(): Promise<AvailabilityHistory> {
    const nowMs = Date.now()
    if (this.#history === null || nowMs - this.#history.ofMs >= CHECK_MS)
      this.#history = { ofMs: nowMs, value: this.#readHistory(nowMs) }
    const { value } = this.#history
    value.catch(() => {
      this.#history = null
    })
    return value
  }

  async bundle(untilMs: number): Promise<string | null> {
    return isBundleEnd(untilMs, this.#availability.current.hour) ? this.#bundleUntil(untilMs) : null
  }

  #bundleUntil(untilMs: number): string {
    const text = this.#bundles.get(untilMs) ?? bundleText(this.#hoursUntil(untilMs))
    this.#bundles.set(untilMs, text)
    for (const known of this.#bundles.keys()) if (known < untilMs - BUNDLE_KEPT_MS) this.#bundles.delete(known)
    return text
  }

  async #readHistory(nowMs: number): Promise<AvailabilityHistory> {
    const { current } = this.#availability
    const rows = this.#hoursUntil(current.hour)
    const bundle = {
      path: bundlePath(current.hour),
      sha256: await sha256(this.#bundleUntil(current.hour)),
      rows: rows.length,
    }
    return { ...componentsOf(rows, current, nowMs), bundle: current.hour === 0 ? null : bundle }
  }

  #hoursUntil(untilMs: number) {
    return this.#availability.hours(firstHourOf(untilMs), untilMs)
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now()
    // First, because the platform drops an alarm that fails too often.
    await this.ctx.storage.setAlarm(nowMs + CHECK_MS)
    const status = await this.#logStatus()
    const facts = { atMs: nowMs, status, sums: this.#totals.sums(), gauges: this.#totals.gauges(nowMs) }
    const { next, finished } = checkAvailability(this.#availability.current, facts)
    this.#availability.put(next, finished)
    this.#history = null
    const { sums, gauges } = facts
    this.#figures.record(nowMs, () =>
      figuresOf(metricFamilies({ v: COUNTERS_VERSION, nowMs, sums, gauges, status }, { sources: [] })),
    )
    await this.#alerts.check(this.#alertFacts(status, nowMs), this.#alertTarget())
    reportCounters(this.ctx, this.env)
  }

  async figures(): Promise<readonly FiguresAt[]> {
    return this.#figures.list()
  }

  async alerts(): Promise<AlertReport> {
    const facts = this.#alertFacts(await this.#logStatus(), Date.now())
    return { v: COUNTERS_VERSION, ...this.#alerts.report(facts, this.#alertTarget()) }
  }

  testAlert(): Promise<AlertTest> {
    return this.#alerts.test(this.#alertTarget())
  }

  #alertTarget() {
    const settings = readVariables(AlertSettings, this.env)
    const { ALERT_SECRET: secret = '' }: Cloudflare.Env & AlertEnv = this.env
    return { url: settings.ALERT_URL, secret, chain: settings.CHAIN, egress: new Egress(settings) }
  }

  #alertFacts(status: LogStatus | null, nowMs: number): Facts {
    const late = this.#totals.gauges(nowMs).find(([name]) => name === 'usage_copy_late_seconds')?.[1] ?? 0
    const [charged, writtenOff] = ['credits_charged', 'credits_written_off'].map((name) => this.#totals.sum(name))
    const sums = { atMs: nowMs, charged: charged ?? 0, writtenOff: writtenOff ?? 0 }
    return { status, usageLateMs: late * 1000, sums }
  }

  /** The first report after a deploy starts the checks. */
  async #ensureAlarm(nowMs: number): Promise<void> {
    if (this.#hasAlarm) return
    this.#hasAlarm = true
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(nowMs + CHECK_MS)
  }

  /** Null if the log does not answer. */
  #logStatus(): Promise<LogStatus | null> {
    return orFallback(this.#objects.statusCache().status(), STATUS_MAX_MS, null, after).catch(() => null)
  }
}
