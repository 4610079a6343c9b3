// Changes of outcome markets. The node files that we read do not contain these changes. While there are subscribers,
// the full list is fetched every ten seconds, and the changes are sent as if they were in the block.

import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { EventFanout } from './event-fanout.ts'
import type { Receiver } from './event-frames.ts'
import type { FirstFramePorts } from './first-frames.ts'

const FETCH_EVERY_MS = 10_000

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
  /** The list as last sent; null while there are no subscribers. */
  #known: OutcomeMeta | null = null
  #fetchedMs = Number.NEGATIVE_INFINITY
  #isFetching = false

  constructor(ports: FirstFramePorts, fanout: EventFanout<R>) {
    this.#ports = ports
    this.#fanout = fanout
  }

  /** Resolves when the changes triggered by this block have been sent. Never rejects. */
  async onBlock(block: RelayEvents): Promise<void> {
    const nowMs = this.#ports.clock.nowMs
    if (this.#isFetching || nowMs - this.#fetchedMs < FETCH_EVERY_MS) return
    this.#fetchedMs = nowMs
    if (this.#fanout.fetchedNames('outcomes').size === 0) {
      this.#known = null
      return
    }
    this.#isFetching = true
    const response = await this.#ports.read({ type: 'outcomeMeta' }).catch(() => null)
    this.#isFetching = false
    const outcomes = response ? this.#changesTo(response.body) : []
    if (outcomes.length > 0) this.#fanout.deliverFetched(block, { outcomes })
  }

  /** None if the response is not a list of outcome markets. */
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

/** Changes between two lists, in the public server's shape. Settled markets leave the list. */
function outcomeChanges(before: OutcomeMeta, now: OutcomeMeta): object[] {
  const created = missingFrom(now.outcomes, before.outcomes, ({ outcome }) => outcome)
  const settled = missingFrom(before.outcomes, now.outcomes, ({ outcome }) => outcome)
  const updated = missingFrom(now.questions, before.questions, (question) => JSON.stringify(question))
  const settledQuestions = missingFrom(before.questions, now.questions, ({ question }) => question)
  return [
    ...created.map(({ deployer: _, ...outcome }) => {
      const sideSpecs = outcome.sideSpecs.map(({ name }) => ({ name }))
      return { outcomeCreated: { ...outcome, sideSpecs } }
    }),
    ...updated.map((question) => ({ questionUpdated: question })),
    ...settled.map(({ outcome }) => ({ outcomeSettled: outcome })),
    ...settledQuestions.map(({ question }) => ({ questionSettled: question })),
  ]
}

/** Items of `list` that are not in `other`. */
function missingFrom<T>(list: readonly T[], other: readonly T[], idOf: (one: T) => unknown): T[] {
  const ids = new Set(other.map(idOf))
  return list.filter((one) => !ids.has(idOf(one)))
}
