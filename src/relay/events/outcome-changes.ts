// What became of outcome markets. No file of a node that is read holds it: while somebody wants it, the list of all is asked
// for every ten seconds, and its changes go out as if they had stood in the block.

import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { EventFanout } from './event-fanout.ts'
import type { FirstFramePorts } from './first-frames.ts'
import type { Receiver } from './parcels.ts'

const EVERY_MS = 10_000

interface Outcome {
  readonly outcome: number
  readonly sideSpecs: readonly { readonly name: string }[]
  readonly [field: string]: unknown
}
interface Question {
  readonly question: number
  readonly [field: string]: unknown
}
interface OutcomeMeta {
  readonly outcomes: readonly Outcome[]
  readonly questions: readonly Question[]
}

export class OutcomeChanges<R extends Receiver> {
  readonly #ports: FirstFramePorts
  readonly #fanout: EventFanout<R>
  /** As it was last told of; null while nobody wants it. */
  #known: OutcomeMeta | null = null
  #askedMs = Number.NEGATIVE_INFINITY
  #isAsking = false

  constructor(ports: FirstFramePorts, fanout: EventFanout<R>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  /** Resolves when what this block made due was told. Never rejects. */
  async follow(block: RelayEvents): Promise<void> {
    const nowMs = this.#ports.clock.nowMs
    if (this.#isAsking || nowMs - this.#askedMs < EVERY_MS) return
    this.#askedMs = nowMs
    if (this.#fanout.lateNames('outcomes').size === 0) {
      this.#known = null
      return
    }
    this.#isAsking = true
    const answer = await this.#ports.read({ type: 'outcomeMeta' }).catch(() => null)
    this.#isAsking = false
    const outcomes = answer ? this.#changesTo(answer.body) : []
    if (outcomes.length > 0) this.#fanout.deliverLate(block, { outcomes })
  }

  /** None where it is no list of outcome markets. */
  #changesTo(body: string): object[] {
    try {
      const meta = JSON.parse(body) as OutcomeMeta
      const changes = outcomeChanges(this.#known ?? meta, meta)
      this.#known = meta
      return changes
    } catch {
      return []
    }
  }
}

/** What made the one list of the other, in the public server's shape. What is settled leaves the list. */
function outcomeChanges(before: OutcomeMeta, now: OutcomeMeta): object[] {
  const created = goneFrom(now.outcomes, before.outcomes, ({ outcome }) => outcome)
  const settled = goneFrom(before.outcomes, now.outcomes, ({ outcome }) => outcome)
  const updated = goneFrom(now.questions, before.questions, (question) => JSON.stringify(question))
  const answered = goneFrom(before.questions, now.questions, ({ question }) => question)
  return [
    ...created.map(({ deployer: _, ...outcome }) => {
      const sideSpecs = outcome.sideSpecs.map(({ name }) => ({ name }))
      return { outcomeCreated: { ...outcome, sideSpecs } }
    }),
    ...updated.map((question) => ({ questionUpdated: question })),
    ...settled.map(({ outcome }) => ({ outcomeSettled: outcome })),
    ...answered.map(({ question }) => ({ questionSettled: question })),
  ]
}

/** Those of one list that are not in the other. */
function goneFrom<T>(list: readonly T[], other: readonly T[], idOf: (one: T) => unknown): T[] {
  const ids = new Set(other.map(idOf))
  return list.filter((one) => !ids.has(idOf(one)))
}
