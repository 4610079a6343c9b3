// Sink objects in memory. They record their calls and fail when a test tells them to.

import { planBackfill } from '../../src/pipelines/backfill.ts'
import type { Pipeline } from '../../src/pipelines/pipeline.ts'
import type { SinkApi, SinkCheck, SinkPreview, SinkStatus, SurveyRequest } from '../../src/pipelines/sink-api.ts'

export const IDLE: SinkStatus = {
  v: 1,
  phase: 'idle',
  height: null,
  timeMs: null,
  first: null,
  lagBlocks: null,
  lagMs: null,
  rows: 0,
  bytes: 0,
  batches: 0,
  deadLetters: 0,
  rowMicro: 100,
  minuteMicro: 50_000,
  attempts: 0,
  nextTryMs: null,
  lastError: null,
  lastIncident: null,
  pauseReason: null,
}
const LINES = [3, 2, 1].map((id) => ({ id, atMs: id, level: 'info' as const, words: `line ${id}`, batch: null }))

type Call = keyof SinkApi

export class FakeSinks {
  /** What each object has; not there: it is empty. */
  readonly held = new Map<string, Pipeline>()
  /** What is sealed of each. */
  readonly sealed = new Map<string, string | null | undefined>()
  /** Every call with its object, in order. */
  readonly calls: [call: Call, id: string][] = []
  /** Calls that fail before they do anything. */
  readonly failing = new Set<Call>()
  /** Calls that do what they are asked and fail to say so. */
  readonly silent = new Set<Call>()
  /** Objects that wait for somebody. */
  readonly stuck = new Set<string>()
  /** Objects that wait for credits. */
  readonly unpaid = new Set<string>()
  /** What all say beside it. */
  says: Partial<SinkStatus> = {}
  /** Runs when an object was told something, before it says so. */
  onApplied: () => Promise<unknown> = async () => {}
  /** Runs while a survey is made. */
  onSurveyed: () => Promise<unknown> = async () => {}
  tested: Pipeline | null = null
  surveyed: SurveyRequest | null = null
  isBusy = false
  /** What is wrong with all transforms; null: nothing. */
  fault: SinkCheck['fault'] = null
  /** What is wrong with all previews; null: nothing. */
  previewFault: SinkPreview['fault'] = null

  readonly sinkOf = (id: string): SinkApi => {
    const call = async <Answer>(name: Call, work: () => Answer | Promise<Answer>): Promise<Answer> => {
      this.calls.push([name, id])
      if (this.failing.has(name)) throw new Error(`${name} failed`)
      const answer = await work()
      if (this.silent.has(name)) throw new Error(`${name} did not answer`)
      return answer
    }
    return {
      apply: ({ pipeline, sealed }) =>
        call('apply', async () => {
          if ((this.held.get(id)?.revision ?? 0) < pipeline.revision) {
            this.held.set(id, pipeline)
            this.sealed.set(id, sealed)
            this.stuck.delete(id)
            this.unpaid.delete(id)
          }
          await this.onApplied()
          return this.#status(id)
        }),
      poke: async () => ({ v: 1, next: null }),
      status: () => call('status', () => this.#status(id)),
      logs: ({ before, limit }) =>
        call('logs', () => ({ v: 1, lines: LINES.filter((line) => line.id < (before ?? 9)).slice(0, limit) })),
      metrics: ({ minutes }) =>
        call('metrics', () => ({
          v: 1,
          minutes: [{ minuteMs: 60_000, rows: minutes, bytes: 2, batches: 1, failures: 0, lagMs: null }],
        })),
      trial: ({ pipeline }) =>
        call('trial', () => {
          this.tested = pipeline
          return { ok: true, rows: 3, ms: 1, words: 'confirmed', ...(this.isBusy && { isBusy: true }) }
        }),
      preview: ({ pipeline }) =>
        call('preview', () => {
          this.tested = pipeline
          const texts = ['{"_kind":"row","_key":"9:a"}']
          return { v: 1, texts, read: 3, blocks: { from: 7, to: 9 }, fault: this.previewFault }
        }),
      survey: (request) =>
        call('survey', async () => {
          this.surveyed = request
          await this.onSurveyed()
          const { from, to, delivered, isAgain, isSampled } = request
          const asked = { from: Number(from || 0), to: Number(to || 900) }
          const plan = planBackfill(asked, delivered, isAgain)
          if (!plan.ok) return { v: 1, range: null, estimate: null, fault: { path: 'from', message: plan.error } }
          const estimate = { rows: 1_000, most: 2_000, isExact: false, ms: 90_000 }
          return { v: 1, range: plan.value, estimate: isSampled ? estimate : null, fault: null }
        }),
      check: () => call('check', () => ({ v: 1, fault: this.fault })),
      redeliver: () => call('redeliver', () => ({ v: 1, batches: 2 })),
      drop: () => call('drop', () => void this.held.delete(id)),
    }
  }

  #status(id: string): SinkStatus {
    const pipeline = this.held.get(id)
    if (pipeline === undefined) return IDLE
    const phase = this.stuck.has(id) ? 'failed' : this.unpaid.has(id) ? 'unpaid' : 'live'
    return { ...IDLE, phase: pipeline.status === 'paused' ? 'paused' : phase, ...this.says }
  }
}
