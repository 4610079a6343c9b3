// Repairs gaps from several sources. Invariants: a gap is asked of its sources one after another, until nothing is missing; a
// source that does not fill a gap is recorded with the reason; a failure of the gateway ends the pass and counts for no source.

import { err, ok, type Result } from '../../core/result.ts'
import { MINUTE_MS } from '../../core/time.ts'
import type { BackfillResult } from '../backfill/backfill-run.ts'
import { ArchivedRange, type BackfillTarget, type GapState, type Window } from '../backfill/window.ts'
import { dueRepairs, isBeyondRepair, type RepairPolicy } from './repair-plan.ts'

/** Files are found by the time of their first block, which can be earlier. */
const MARGIN_MS = 2 * MINUTE_MS
const ANY_OLDER = { height: Number.NEGATIVE_INFINITY, time: Number.NEGATIVE_INFINITY }
/** Records per source and group of gaps. Pieces without a record are asked for again. */
const MAX_RECORDS = 1_000
const MAX_MESSAGE_CHARS = 500

type Attempt = GapState['attempts'][number]

/** The result of one source. `faults`: what could not be read. */
export type SourceResult =
  | { readonly kind: 'read'; readonly result: BackfillResult; readonly faults: readonly string[] }
  | { readonly kind: 'refused' | 'failed'; readonly message: string }

export interface AttemptRecord extends Pick<Attempt, 'source' | 'outcome' | 'message'> {
  readonly from: number
  readonly to: number
  readonly beyond_repair: boolean
}

export interface RepairPorts {
  readonly sources: readonly string[]
  /** Reads the gaps at or above a height. */
  readTarget(from?: number): Promise<Result<BackfillTarget, string>>
  /** Imports the missing blocks of the window that the source has. An error comes from the gateway. */
  importFrom(source: string, window: Window, chain: string, held: ArchivedRange): Promise<Result<SourceResult, string>>
  record(attempt: AttemptRecord): Promise<Result<unknown, string>>
  note(message: string): void
  isStopped(): boolean
}

/** Repairs that were completed, and gaps that are left, beyond repair or not. */
export interface PassResult {
  readonly blocks: number
  readonly open: number
  readonly beyond: number
}

/** Asks every source that is due, for every gap. An error comes from the gateway. */
export async function repairPass(ports: RepairPorts, policy: RepairPolicy): Promise<Result<PassResult, string>> {
  const target = await ports.readTarget()
  if (!target.ok) return target
  let blocks = 0
  for (const { gaps, sources } of dueRepairs(target.value.gaps, ports.sources, target.value.nowMs, policy)) {
    if (ports.isStopped()) break
    const repaired = await repairGaps(ports, gaps, sources)
    if (!repaired.ok) return repaired
    blocks += repaired.value
  }
  const after = await ports.readTarget()
  if (!after.ok) return after
  const left = after.value.gaps.filter(({ recorded_ms }) => recorded_ms !== null)
  const beyond = left.filter(({ beyond_ms }) => beyond_ms !== null).length
  return ok({ blocks, open: left.length - beyond, beyond })
}

/** Returns the number of repaired blocks. */
async function repairGaps(
  ports: RepairPorts,
  gaps: readonly GapState[],
  sources: readonly string[],
): Promise<Result<number, string>> {
  let blocks = 0
  for (const source of sources) {
    if (ports.isStopped()) break
    const missing = await piecesOf(ports, gaps)
    if (!missing.ok) return missing
    const { target, pieces } = missing.value
    if (pieces.length === 0) break
    // Blocks outside of the gaps are left alone, older ones too.
    const held = new ArchivedRange(ANY_OLDER, target.end, pieces)
    const window = {
      from: { timeMs: Math.min(...pieces.map(({ after_ms }) => after_ms)) - MARGIN_MS },
      to: { timeMs: Math.max(...pieces.map(({ before_ms }) => before_ms)) + MARGIN_MS },
    }
    const imported = await ports.importFrom(source, window, target.chain, held)
    if (!imported.ok) return imported
    const count = imported.value.kind === 'read' ? imported.value.result.blocks : 0
    blocks += count
    if (count > 0) ports.note(`${count} blocks of ${rangeText(gaps)} repaired from ${source}`)
    if (imported.value.kind === 'refused' && gaps.length > 1) {
      // One wrong block refuses all gaps of the request.
      const single = await repairEach(ports, gaps, source)
      if (!single.ok) return single
      blocks += single.value
      continue
    }
    // A program that is ended has not asked for all blocks.
    if (imported.value.kind === 'read' && imported.value.result.isStopped) break
    const recorded = await recordLeft(ports, gaps, source, imported.value)
    if (!recorded.ok) return recorded
  }
  return ok(blocks)
}

async function repairEach(
  ports: RepairPorts,
  gaps: readonly GapState[],
  source: string,
): Promise<Result<number, string>> {
  let blocks = 0
  for (const gap of gaps) {
    const repaired = await repairGaps(ports, [gap], [source])
    if (!repaired.ok) return repaired
    blocks += repaired.value
  }
  return ok(blocks)
}

const rangeText = (gaps: readonly GapState[]) =>
  `${gaps.length === 1 ? 'the gap' : `${gaps.length} gaps`} ${gaps.at(-1)?.from} to ${gaps[0]?.to}`

/** The heights of gaps that are still missing. */
async function piecesOf(
  ports: Pick<RepairPorts, 'readTarget'>,
  gaps: readonly GapState[],
): Promise<Result<{ readonly target: BackfillTarget; readonly pieces: readonly GapState[] }, string>> {
  const target = await ports.readTarget(gaps.at(-1)?.from)
  if (!target.ok) return target
  const isPiece = (one: GapState) => gaps.some(({ from, to }) => one.from >= from && one.to <= to)
  return ok({ target: target.value, pieces: target.value.gaps.filter(isPiece) })
}

async function recordLeft(
  ports: RepairPorts,
  gaps: readonly GapState[],
  source: string,
  result: SourceResult,
): Promise<Result<null, string>> {
  const left = await piecesOf(ports, gaps)
  if (!left.ok) return left
  const { outcome, message } = outcomeOf(result)
  // Highest first: the record of the lowest piece may replace that of the whole gap, from which the tries are counted.
  for (const { from, to, attempts } of left.value.pieces.slice(0, MAX_RECORDS).toReversed()) {
    const last = attempts.find((one) => one.source === source)
    // Failures are counted apart: a source that cannot be read may have the blocks.
    const tries = last && (last.outcome === 'failed') === (outcome === 'failed') ? last.tries + 1 : 1
    const others = attempts.filter((one) => one.source !== source)
    const own = { source, outcome, message, tries, at_ms: left.value.target.nowMs }
    const isBeyond = isBeyondRepair([...others, own], ports.sources, own.at_ms)
    const recorded = await ports.record({ from, to, source, outcome, message, beyond_repair: isBeyond })
    if (!recorded.ok) {
      const now = await piecesOf(ports, gaps)
      // Another program has repaired it meanwhile.
      if (now.ok && !now.value.pieces.some((piece) => piece.from === from && piece.to === to)) continue
      return err(recorded.error)
    }
    ports.note(`${source} did not fill the gap ${from} to ${to}: ${message}${isBeyond ? ' No source is left.' : ''}`)
  }
  return ok(null)
}

function outcomeOf(imported: SourceResult): Pick<Attempt, 'outcome' | 'message'> {
  const cut = (message: string) => message.slice(0, MAX_MESSAGE_CHARS)
  if (imported.kind !== 'read') return { outcome: imported.kind, message: cut(imported.message) }
  const [fault] = imported.faults
  const { blocks } = imported.result
  if (fault !== undefined) return { outcome: 'failed', message: cut(fault) }
  return blocks > 0
    ? { outcome: 'partial', message: `It had ${blocks} other blocks of the gap.` }
    : { outcome: 'absent', message: 'It has none of these blocks.' }
}
