// The world of a pipeline in virtual time: its log, archive, destination, meter and machine, each of which may fail at every step.

import { expect } from 'vitest'
import type { ArchivedSegment } from '../../../src/archive/archive/archive-read.ts'
import { ArchiveDamage, joinRepairs } from '../../../src/archive/archive/archive-read.ts'
import { toChunks } from '../../../src/core/chunks.ts'
import { keyHashOf } from '../../../src/core/ids.ts'
import { batchId, type DeliveryResult } from '../../../src/pipelines/destinations/batch.ts'
import { Assembler, lastReadBlock, type ReaderState } from '../../../src/pipelines/sink/batch-assembler.ts'
import { Delivery } from '../../../src/pipelines/sink/delivery.ts'
import {
  type BatchRows,
  billedRowCount,
  type DeliveryPorts,
  type DeliveryState,
  type DesiredState,
  INITIAL_DELIVERY,
  type RepairedRange,
} from '../../../src/pipelines/sink/delivery-state.ts'
import { rereadFold, rereadFrom } from '../../../src/pipelines/sink/reread.ts'
import type { EndPosition } from '../../../src/pipelines/sink/source.ts'
import { Source, type SourcePorts } from '../../../src/pipelines/sink/source.ts'
import type { TopicSelection } from '../../../src/pipelines/topics/catalogue.ts'
import { keyedRows, type Row, type TopicBlock, type TopicFold } from '../../../src/pipelines/topics/topic.ts'
import type { DurablePage, DurablePart } from '../../../src/protocol/feed/durable-api.ts'
import { ModelMeter } from '../../metering/model-meter.ts'

export const BLOCK_MS = 70
export const FIRST = 10
export const LAST = 60
/** Blocks of a stored segment. */
const SEGMENT = 7
export const RUNNING: DesiredState = {
  isRunning: true,
  onFailure: 'pause',
  maxRows: 5_000,
  maxChars: 4 * 1024 * 1024,
  readMs: 3_000,
  gatherMs: 0,
}

export const PAUSED: DesiredState = { ...RUNNING, isRunning: false }

class Killed extends Error {}

interface Faults {
  /** What goes wrong with the next call of a port, drawn each time. */
  readonly draw?: () => 'ok' | 'fails' | 'lost answer' | 'killed'
  readonly missing?: readonly number[]
  readonly damaged?: readonly number[]
  readonly onFailure?: DesiredState['onFailure']
  readonly gatherMs?: number
  /** A real topic and its lines, in place of a running sum. */
  readonly topic?: TopicSelection & { readonly blocks: ReadonlyMap<number, TopicBlock> }
}

/** Rows with a running sum in them: a fold that is begun wrongly shows. A gap counts once, in however many parts it comes. */
function summing(state: string | null): TopicFold<TopicBlock> {
  let [sum, isInGap] = state === null ? [0, false] : (JSON.parse(state) as [number, boolean])
  return {
    parse: (line) => JSON.parse(line) as TopicBlock,
    rows: (block) => {
      sum += block.height
      isInGap = false
      const count = block.height % 3
      return keyedRows(
        block,
        Array.from({ length: count }, (_, at) => [`${at}`, { sum }] as const),
      )
    },
    onGap: () => {
      sum += isInGap ? 0 : 1_000_000
      isInGap = true
    },
    state: () => JSON.stringify([sum, isInGap]),
  }
}

export class World {
  nowMs = 1_000_000
  head = FIRST + 5
  /** Where the pipeline begins. */
  start = FIRST
  archivedTo = FIRST - 1
  /** What the destination has, in the order in which it came first. */
  readonly applied = new Map<string, Row>()
  readonly ids = new Map<string, string>()
  readonly ranges = new Map<string, number>()
  readonly letters: BatchRows[] = []
  /** Dead letters that do not arrive, by where they begin. */
  poison: number[] = []
  readonly logged: string[] = []
  saved: DeliveryState = INITIAL_DELIVERY
  /** Survives a kill: what was saved before the last send. */
  #durable: DeliveryState = INITIAL_DELIVERY
  sends = 0
  /** Batches that were to be smaller. */
  cuts = 0
  kills = 0
  end: EndPosition | null = { height: LAST }
  answer: (() => DeliveryResult) | null = null
  /** Becomes a dead letter at once. */
  isBad = (_: BatchRows) => false
  rowMicro = 100
  minuteMicro = 0
  meter = new ModelMeter(1_000_000_000)
  /** Its key, keys that have ended, and the cap that the meter names. */
  readonly payer = { hash: keyHashOf('k1'), name: 'one' }
  readonly ended = new Map<string, 'revoked' | 'expired'>()
  cap: number | undefined
  /** How often the meter was asked, and what each key was told to owe, in order. */
  asked = 0
  readonly bills: [by: string, spent: number][] = []
  isAway = false
  /** The meter did not answer when it was last asked. */
  isMeterAway = false
  /** What rows that arrived while it answered cost beyond what was left. */
  unpaid = 0
  /** Who waits for credits gets so many. */
  top = 0
  isKilled = false
  readonly #faults: Faults

  constructor(faults: Faults = {}) {
    this.#faults = faults
  }

  isMissing = (height: number) => this.#faults.missing?.includes(height) ?? false
  /** Missing heights that the archive got later, in this order. The log does not get them. */
  readonly repairs: RepairedRange[] = []
  readonly #isArchived = (height: number) =>
    !this.isMissing(height) || this.repairs.some(({ from, to }) => from <= height && height <= to)

  #repairOf(height: number): number | null {
    return this.repairs.find(({ from, to }) => from <= height && height <= to)?.id ?? null
  }

  #timeOf(height: number): number {
    return this.#faults.topic?.blocks.get(height)?.time ?? height * BLOCK_MS
  }

  line(height: number): string {
    const block = this.#faults.topic?.blocks.get(height)
    if (block) return JSON.stringify(block)
    return JSON.stringify({ height, time: height * BLOCK_MS, epoch: height < 40 ? 'a' : 'b' })
  }

  async #port<T>(effect: () => T): Promise<T> {
    const fault = this.#faults.draw?.() ?? 'ok'
    if (fault === 'fails') throw new Error('it did not come there')
    const done = effect()
    if (fault === 'killed') this.kills++
    if (fault === 'killed') throw new Killed()
    if (fault === 'lost answer') throw new Error('its answer did not come')
    return done
  }

  get #source(): SourcePorts {
    const segmentsFrom = (at: object): ArchivedSegment[] => {
      const { height: from = 0, timeMs = 0 } = at as { height?: number; timeMs?: number }
      // A segment ends at a missing height, and so does one that a repair has added.
      for (let first = FIRST; first + SEGMENT - 1 <= this.archivedTo; first += SEGMENT)
        for (let begin = first, height = first; height < first + SEGMENT; height++) {
          if (!this.#isArchived(height)) begin = height + 1
          const isSame = this.#isArchived(height + 1) && this.#repairOf(height) === this.#repairOf(height + 1)
          if (!this.#isArchived(height) || (isSame && height < first + SEGMENT - 1)) continue
          const segment = { first: begin, last: height, firstMs: this.#timeOf(begin), lastMs: this.#timeOf(height) }
          begin = height + 1
          if (height < from || segment.lastMs < timeMs) continue
          return [{ chain: 'c', ...segment, epoch: height < 40 ? 'a' : 'b' }]
        }
      return []
    }
    const isDamaged = ({ first }: ArchivedSegment) => this.#faults.damaged?.includes(first)
    const line = (height: number) => this.line(height)
    return {
      archive: {
        segmentsFrom: (at) => this.#port(() => segmentsFrom(at)),
        last: () => this.#port(() => (this.archivedTo < FIRST ? null : this.archivedTo)),
        async *lines(segment) {
          if (isDamaged(segment)) throw new ArchiveDamage('key', 'missing')
          for (let height = segment.first; height <= segment.last; height++) yield line(height)
        },
      },
      head: async () => ({ height: this.head, time: this.#timeOf(this.head) }),
      durable: (from) => this.#port(() => this.#durablePage(from)),
    }
  }

  #durablePage(from: number): DurablePage {
    const parts: DurablePart[] = []
    for (let height = Math.max(from, 0); height <= this.head && parts.length < 4; height++) {
      const isGone = height < Math.max(FIRST, this.head - 20)
      if (isGone || this.isMissing(height)) parts.push({ gap: { from: height, to: height } })
      else parts.push({ first: height, last: height, lines: toChunks(this.line(height)) })
    }
    return { v: 1, head: { height: this.head, time: this.#timeOf(this.head) }, parts }
  }

  get ports(): DeliveryPorts {
    const at: ReaderState = { place: { height: this.start }, epoch: null, timeMs: 0, fold: null }
    const nowMs = () => this.nowMs
    let isDead = false
    this.isKilled = false
    const alive = async <T>(work: () => T | Promise<T>): Promise<T> => {
      try {
        if (isDead) throw new Killed()
        return await work()
      } catch (error) {
        isDead ||= error instanceof Killed
        this.isKilled ||= isDead
        throw error
      }
    }
    return {
      nowMs,
      rowMicro: this.rowMicro,
      minuteMicro: this.minuteMicro,
      payer: () => this.payer,
      settle: ({ spent }, by) =>
        alive(async () => {
          this.#durable = this.saved
          this.asked++
          this.isMeterAway = true
          if (this.isAway) throw new Error('away')
          const answer = await this.#port(() => this.meter.settlePipeline('p', spent, by))
          this.isMeterAway = false
          this.bills.push([by, spent])
          return { ...answer, cap: this.cap, ended: this.ended.get(by) }
        }),
      random: () => 0.5,
      begin: async () => at,
      end: async () => this.end,
      repairAfter: (id) =>
        alive(async () => {
          const all = await this.#port(() => this.repairs)
          const found = joinRepairs(id === null ? all.slice(-1) : all.filter((one) => one.id > id))
          const { definition: { reread } = {}, interest = null } = this.#faults.topic ?? {}
          const { archive } = this.#source
          if (!found || !reread || !archive) return found
          return { ...found, readFrom: await rereadFrom(archive, found.from, interest, reread) }
        }),
      assembler: (from, _, { repair, repairedTo }) => {
        const isLater = async ({ first }: ArchivedSegment) =>
          (this.#repairOf(first) ?? 0) > (repair?.id ?? repairedTo ?? Number.POSITIVE_INFINITY)
        const source = new Source({ ...this.#source, isLater }, 'events', null, lastReadBlock(from))
        const { definition, interest = null } = this.#faults.topic ?? {}
        const fold =
          repair && definition?.reread
            ? rereadFold(definition, definition.reread, interest, repair, from.fold)
            : (definition?.open(interest, from.fold) ?? summing(from.fold))
        const assembler = new Assembler(source, fold, from, nowMs, repair !== null)
        // Few rows, that there are many batches.
        return {
          retryMs: 0,
          ordersFrom: null,
          take: (end, upTo, most) =>
            alive(() => {
              if (most.blocks < 9) this.cuts++
              return assembler.take(end, upTo, { ...most, rows: 4, blocks: Math.min(9, most.blocks) })
            }),
        }
      },
      ready: async () => undefined,
      send: (parcel, affords) =>
        alive(async () => {
          const unpaidRows = countedOf(parcel)
          const isPaid = unpaidRows === 0 || (await alive(() => affords(unpaidRows)))
          return isPaid ? this.#send(parcel) : { ok: false, message: 'unpaid', isNotAttempted: true, unpaidRows }
        }),
      putDeadLetter: (parcel) =>
        alive(() => {
          this.#durable = this.saved
          return this.#port(() => {
            if (!this.letters.some(({ from }) => from === parcel.from)) this.letters.push(parcel)
          })
        }),
      sendDeadLetter: (after, affords) =>
        alive(async () => {
          const letter = this.letters.find(({ from }) => from > Number(after ?? -1))
          if (!letter) return null
          const key = `${letter.from}`
          if (this.poison.includes(letter.from)) return { ok: false, message: 'poison', key }
          const unpaidRows = countedOf(letter)
          if (unpaidRows > 0 && !(await affords(unpaidRows)))
            return { ok: false, message: 'unpaid', isNotAttempted: true, unpaidRows, key }
          const { from, to, rows } = letter
          return { ...(await this.#port(() => this.#apply(letter))), key, from, to, rows: rows.length }
        }),
      removeDeadLetter: (key) =>
        alive(() => {
          this.#durable = this.saved
          return this.#port(() => {
            const at = this.letters.findIndex(({ from }) => `${from}` === key)
            if (at >= 0) this.letters.splice(at, 1)
          })
        }),
      save: (state) => {
        if (isDead) return
        const cursor = state.at && 'height' in state.at.place ? state.at.place.height : 0
        if (!this.#faults.topic) expect(cursor).toBeLessThanOrEqual(this.#arrivedTo() + 1)
        this.saved = state
      },
      log: (_, words) => void this.logged.push(words),
      count: () => undefined,
    }
  }

  async #send(parcel: BatchRows): Promise<DeliveryResult> {
    this.#durable = this.saved
    this.sends++
    const id = batchId('p', parcel)
    const begin = `${parcel.repair ?? 'live'} ${parcel.from}`
    const text = parcel.texts.join()
    // What begins here ends where it did at its first try …
    expect(this.ranges.get(begin) ?? parcel.to).toBe(parcel.to)
    this.ranges.set(begin, parcel.to)
    // … and the same rows go under one name.
    expect(this.ids.get(id) ?? text).toBe(text)
    this.ids.set(id, text)
    if (this.answer) {
      const outcome = this.answer()
      if (outcome.ok) this.#apply(parcel)
      return outcome
    }
    if (this.isBad(parcel)) return { ok: false, message: 'no such column', isFinal: true }
    try {
      return await this.#port(() => this.#apply(parcel))
    } catch (error) {
      if (error instanceof Killed) throw error
      return { ok: false, message: 'it failed' }
    }
  }

  #apply({ rows, texts }: BatchRows) {
    for (const row of rows) if (!this.applied.has(row._key)) this.applied.set(row._key, row)
    const cost = countedOf({ rows, texts }) * this.rowMicro
    const unpaid = this.saved.owed.spent + cost - this.meter.reported('p') - this.meter.account.available
    if (!this.isMeterAway) this.unpaid = Math.max(this.unpaid, unpaid)
    return { ok: true, bytes: texts.join('').length, billedRows: countedOf({ rows, texts }) } as const
  }

  /** All blocks up to here have arrived, or lie as dead letters, or have nothing. */
  #arrivedTo(): number {
    const there = new Set([...this.applied.keys(), ...this.letters.flatMap(({ rows }) => rows.map(({ _key }) => _key))])
    const gaps = [...this.applied.values(), ...this.letters.flatMap(({ rows }) => rows)].filter(
      ({ _kind }) => _kind === 'gap',
    )
    const isTold = (height: number) =>
      gaps.some(({ _from, _height }) => (_from as number) <= height && height <= _height)
    let height = FIRST
    for (; height <= this.head; height++) {
      const keys = Array.from({ length: height % 3 }, (_, at) => `${height}:${at}`)
      if (!isTold(height) && keys.some((key) => !there.has(key))) break
      if (keys.length === 0 && !this.#isArchived(height) && !isTold(height)) break
    }
    return height - 1
  }

  /** An object that begins from what was saved. */
  delivery(over: Partial<DeliveryPorts> = {}, order = RUNNING, saved = this.saved): Delivery {
    return new Delivery({ ...this.ports, ...over }, saved, order)
  }

  /** Runs until nothing is to be done any more, or until `isDone`; a killed object begins anew from what it had stored. */
  async run(mostTurns = 4_000, isDone = (_turn: number) => false): Promise<Delivery> {
    const { onFailure = 'pause', gatherMs = 0 } = this.#faults
    const order: DesiredState = { ...RUNNING, onFailure, gatherMs }
    let delivery = this.delivery({}, order)
    if (this.letters.length > 0) delivery.redeliver()
    for (let turn = 0; turn < mostTurns; turn++) {
      if (isDone(turn)) return delivery
      if (delivery.state.owed.askAtMs !== null) this.meter.grant(this.top)
      const waitMs = await delivery.turn()
      const killed = this.isKilled
      if (killed) {
        // What was saved since the last send may be lost with it.
        if (turn % 2 === 0) this.saved = this.#durable
        delivery = this.delivery({}, order)
      } else if (waitMs === null) {
        if (!this.saved.isFailed) return delivery
        // Somebody looks after it.
        delivery.applyDesired(order, 'none')
      }
      this.nowMs += killed ? 90_000 : Math.max(waitMs ?? 0, 1)
      this.head = Math.min(LAST + 5, this.head + 1)
      this.archivedTo = Math.max(this.archivedTo, this.head - 15)
    }
    throw new Error('it never came to its end')
  }
}

const countedOf = ({ rows, texts }: Pick<BatchRows, 'rows' | 'texts'>) =>
  billedRowCount(texts.filter((_, at) => rows[at]!._kind === 'row'))

export const expected = (missing: readonly number[]) =>
  Array.from({ length: LAST - FIRST + 1 }, (_, at) => FIRST + at)
    .filter((height) => !missing.includes(height))
    .flatMap((height) => Array.from({ length: height % 3 }, (_, at) => `${height}:${at}`))

export const ofKind = (world: World, kind: Row['_kind']) =>
  [...world.applied.values()].filter(({ _kind }) => _kind === kind)
