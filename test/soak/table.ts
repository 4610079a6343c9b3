// The findings of a soak as a Markdown table, and as a verdict.

import { markdown, percentile } from '../kit/statistics.ts'
import type { Churn } from './churn.node.ts'
import type { HeapReport } from './heap.node.ts'
import type { Audit } from './ledger.node.ts'
import type { Machine, Taken } from './machine.node.ts'
import type { Kind } from './mix.ts'
import type { OutageFindings } from './outages.node.ts'
import type { Past } from './past.node.ts'
import type { Quiet } from './quiet.node.ts'
import type { Absence } from './wellness.ts'

/** Every client that wants to be live is, so long after a fault. */
const LIVE_WITHIN_MS = 60_000
/** An order-level book comes out of a snapshot file of the node, of which a fault takes away the one that is being made. */
const ORDERS_LIVE_WITHIN_MS = 180_000
/** All objects of an isolate share 128 MB. */
const ISOLATE_MB = 100
/** Growth of an isolate's heap over connections that came and went. */
export const GROWTH_MOST = 0.05
/** Share of connections that may be told to come again. */
const REFUSED_MOST = 0.01

export interface Comparison {
  readonly height: number
  readonly clients: number
  readonly books: number
  /** `client coin`. */
  readonly wrong: readonly string[]
  /** Clients of which not every book could be compared, because a fault was in the way. */
  readonly absent: number
}

export interface Findings {
  readonly minutes: number
  readonly clients: number
  readonly scale: string
  readonly seed: number
  readonly blocks: number
  readonly gaps: number
  readonly epochs: number
  /** By number, as struck. */
  readonly faults: readonly string[]
  readonly absences: readonly (Absence & { readonly client: string; readonly kind: Kind })[]
  readonly missing: readonly string[]
  readonly comparisons: readonly Comparison[]
  /** Null: not reached, as of those below. */
  readonly quiet: Quiet | null
  readonly past: Past | null
  readonly audit: Audit | null
  readonly heap: HeapReport | null
  readonly churn: Churn | null
  readonly taken: readonly Taken[]
  readonly busy: Machine['busy']
  readonly troubles: readonly string[]
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(0)} KB`
const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(0)} MB`

const liveWithinMs = (kind: Kind) => (kind === 'orders' ? ORDERS_LIVE_WITHIN_MS : LIVE_WITHIN_MS)

/** Why the run is no proof, in sentences; none where it is. */
export function failures(found: Findings): string[] {
  const late = found.absences.filter(({ fault, ms, kind }) => fault >= 0 && ms > liveWithinMs(kind))
  const wrong = found.comparisons.flatMap((comparison) =>
    comparison.wrong.map((one) => `${one} at ${comparison.height}`),
  )
  const heavy = found.heap?.isolates.filter(({ bytes }) => bytes > ISOLATE_MB * 1024 * 1024) ?? []
  const last = found.comparisons.at(-1)
  return [
    ...found.troubles,
    ...some('books differ from the exchange’s', wrong),
    ...(last === undefined || last.books === 0 ? ['no books were compared in the end'] : []),
    ...(last !== undefined && last.absent > 0 ? [`${last.absent} clients had not all of their books in the end`] : []),
    ...some(
      'clients were away for too long',
      late.map(
        ({ client, kind, fault, ms }) =>
          `${client} (${kind}) ${seconds(ms)} of ${seconds(liveWithinMs(kind))}, after ${found.faults[fault]}`,
      ),
    ),
    ...some('clients did not come back', found.missing),
    ...ofQuiet(found.quiet, found.minutes),
    ...(found.past === null ? ['the archive was not looked at'] : some('of the archive differ', found.past.wrong)),
    ...(found.audit === null ? ['credits were not audited'] : some('credits do not add up', found.audit.faults)),
    ...(found.heap === null ? ['memory of objects was not measured'] : []),
    ...heavy.map(({ worker, bytes }) => `the objects of ${worker} hold ${megabytes(bytes)}`),
    ...ofChurn(found.churn),
  ]
}

/** A candle counts that began and ended while its client was there, for which a short run may have no time. */
const CANDLE_MINUTES = 5

function ofQuiet(quiet: Quiet | null, minutes: number): string[] {
  if (quiet === null) return ['what clients were told was not looked at']
  const { rows, states, candles, back } = quiet
  return [
    ...some('segments of rows differ from the node’s', rows.wrong),
    ...some('states differ from what there is', states.wrong),
    ...some('candles differ from the exchange’s', candles.wrong),
    ...some('heights or times went back', back),
    ...Object.entries({ rows: rows.rows, states: states.compared, candles: candles.compared })
      .filter(([what, count]) => count === 0 && (what !== 'candles' || minutes >= CANDLE_MINUTES))
      .map(([what]) => `no ${what} were compared`),
  ]
}

function ofChurn(churn: Churn | null): string[] {
  if (churn === null) return ['what connections leave in memory was not measured']
  const grown = churn.heaps.filter(({ before, after }) => after > before * (1 + GROWTH_MOST))
  return [
    ...grown.map(
      ({ worker, before, after }) =>
        `${churn.connections} connections left the heap of ${worker} at ${kilobytes(after)}, up from ${kilobytes(before)}`,
    ),
    ...some('kinds of objects grew with the connections', churn.left),
    ...(refusalsOf(churn) > churn.connections * REFUSED_MOST
      ? [`of ${churn.connections} connections, ${refusalsOf(churn)} had to come again`]
      : []),
  ]
}

function refusalsOf({ refusals }: Churn): number {
  return Object.values(refusals).reduce((sum, count) => sum + count, 0)
}

function some(what: string, found: readonly string[]): string[] {
  return found.length === 0 ? [] : [`${found.length} ${what}: ${found.slice(0, 12).join('; ')}`]
}

export function tableOf(found: Findings): string {
  const compared = found.comparisons.reduce((sum, { books }) => sum + books, 0)
  const wrong = found.comparisons.reduce((sum, comparison) => sum + comparison.wrong.length, 0)
  const last = found.comparisons.at(-1)
  const { audit, churn, heap, quiet, past } = found
  const rows = [
    ['scale, seed, clients, minutes', `${found.scale}, ${found.seed}, ${found.clients}, ${found.minutes.toFixed(1)}`],
    ['blocks, gaps, epochs', `${found.blocks}, ${found.gaps}, ${found.epochs}`],
    ['faults', String(found.faults.length)],
    [
      'books compared with the exchange’s, at how many heights',
      `${compared} at ${found.comparisons.length}, ${wrong} wrong`,
    ],
    ['of them in the end', last ? `${last.books} of ${last.clients} clients, ${last.wrong.length} wrong` : 'none'],
    ...(quiet
      ? [
          [
            'rows of events told, of how many clients',
            `${quiet.rows.rows} of ${quiet.rows.clients}, ${quiet.rows.wrong.length} segments wrong`,
          ],
          ['states and views at a quiet end', `${quiet.states.compared}, ${quiet.states.wrong.length} wrong`],
          ['candles compared', `${quiet.candles.compared}, ${quiet.candles.wrong.length} wrong`],
        ]
      : []),
    ...(past
      ? [
          [
            'fills, books and candles of the archive',
            `${past.rows}, ${past.books} (${past.unknown} more between two epochs) and ${past.candles}, ${past.wrong.length} wrong`,
          ],
          [
            'of single wallets: fills, balance movements, payments of funding, completed trades',
            `${past.accounts.fills}, ${past.accounts.ledger}, ${past.accounts.payments} and ${past.accounts.trades}`,
          ],
          ['played, times as fast', `fills ${past.speed.fills.toFixed(0)}, a book ${past.speed.books.toFixed(0)}`],
        ]
      : []),
    ...(audit
      ? [
          ['accounts · keys and types audited', `${audit.accounts} · ${audit.compared}, ${audit.faults.length} wrong`],
          [
            'credits charged, between bounds',
            `${(audit.charged / 1e6).toFixed(2)}, ${(audit.least / 1e6).toFixed(2)} to ${(audit.most / 1e6).toFixed(2)}`,
          ],
          ['written off', `${(audit.writtenOff / 1e6).toFixed(2)}`],
        ]
      : []),
    ...(churn
      ? [
          ...churn.heaps.map(({ worker, before, after }) => [
            `heap of ${worker} before and after ${churn.connections} connections with ${churn.subscriptions} subscriptions`,
            `${kilobytes(before)}, ${kilobytes(after)}`,
          ]),
          ...Object.entries(churn.refusals).map(([refusal, count]) => [
            `connections that were told “${refusal}” and came again`,
            String(count),
          ]),
        ]
      : []),
    ...(heap
      ? [
          ...heap.isolates.map(({ worker, bytes }) => [
            `JavaScript heap of all objects of ${worker}`,
            megabytes(bytes),
          ]),
          ...largest(heap),
        ]
      : []),
    ...found.taken.map(({ name, peakMb, share }) => [
      `${name}: most resident memory · CPU`,
      `${peakMb.toFixed(0)} MB · ${(100 * share).toFixed(0)} % of a core`,
    ]),
    ['cores of the machine at work', `${found.busy.cores.toFixed(2)} of ${found.busy.of}`],
  ]
  return `${markdown(['what', 'found'], rows as string[][])}\n\n${markdown(
    ['fault', 'times', 'absences of clients', 'p50', 'longest'],
    byKind(found),
  )}`
}

function largest({ objects }: HeapReport): string[][] {
  return [...new Set(objects.map(({ name }) => name))].map((name) => {
    const all = objects.filter((object) => object.name === name)
    return [`largest ${name} of ${all.length}, retained`, megabytes(all[0]!.bytes)]
  })
}

function byKind({ faults, absences }: Findings): string[][] {
  return [...new Set(['start', ...faults])].map((kind) => {
    const ms = absences.filter(({ fault }) => (faults[fault] ?? 'start') === kind).map((absence) => absence.ms)
    const times = kind === 'start' ? '1' : String(faults.filter((each) => each === kind).length)
    return [
      kind,
      times,
      String(ms.length),
      seconds(
        percentile(
          ms.toSorted((a, b) => a - b),
          0.5,
        ) ?? 0,
      ),
      seconds(Math.max(0, ...ms)),
    ]
  })
}

/** Every outage of a run with outages, and what became of it. */
export function outagesTable({ outages }: OutageFindings): string {
  const rows = outages.map(({ kind, ms, from, to, gap, settledMs }) => [
    kind,
    seconds(ms),
    `${from} to ${to}`,
    gap === null ? 'none' : `${gap.repair}${gap.repairedFrom.length === 0 ? '' : ` from ${gap.repairedFrom.join()}`}`,
    settledMs === null ? '–' : seconds(settledMs),
  ])
  return markdown(['outage', 'lasted', 'heights', 'gap', 'settled after'], rows)
}

export function outageSummary(found: OutageFindings): string {
  const { outages, faults, blocks, repaired, lost, rows, books, unknownBooks, candles, accounts } = found
  const gaps = outages.filter(({ gap }) => gap !== null).length
  return [
    `${outages.length} outages and ${faults.length} kills in ${blocks} blocks left ${gaps} gaps:`,
    `${repaired} blocks are repaired, ${lost} beyond repair.`,
    `Equal to the exchange’s: ${rows} fills played, ${candles} candles, ${books} books (${unknownBooks} more unknown after gaps),`,
    `and of single wallets ${accounts.fills} fills, ${accounts.ledger} balance movements, ${accounts.payments} payments and`,
    `${accounts.trades} completed trades.`,
  ].join(' ')
}
