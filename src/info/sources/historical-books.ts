// Reads past order books from the archive. Invariant: gaps between a checkpoint and the requested height are reported,
// never bridged.

import { type BooksArchive, type BooksUnavailable, bookAt, bookAtTime } from '../../archive/replay/archived-books.ts'
import type { Coin } from '../../core/coin.ts'
import { type After, orReject } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Books, HistoricalBooks, PastMoment } from '../ports.ts'

export interface HistoricalBooksDeps {
  /** Null if there is no archive. */
  readonly archive: BooksArchive | null
  readonly live: Pick<Books, 'snapshot'>
  readonly after: After
}

/** Time limit of a read, well below FLIGHT_MAX_MS. */
const READ_MAX_MS = 10_000
/** Maximum delay until a block is archived. */
const ARCHIVED_MS = 90_000
/** Concurrent reads. Each holds a compressed minute of all books and uses up to a second of CPU time. */
const MAX_READS = 2

export function archivedBooks({ archive, live, after }: HistoricalBooksDeps): HistoricalBooks {
  let reads = 0
  return {
    async at(coin, moment) {
      if (archive === null) return err({ kind: 'unavailable', what: 'This gateway has no archive of order books' })
      if (reads >= MAX_READS) return unavailable('Too many reads of past order books', 1_000)
      reads++
      let isLate = false
      const rest = async () => {
        await new Promise<void>((go) => after(0, go))
        if (isLate) throw new Error('the read timed out')
      }
      const yielder = { yield: rest }
      const read =
        'height' in moment
          ? bookAt(archive, coin, moment.height, yielder)
          : bookAtTime(archive, coin, moment.timeMs, yielder)
      const answer = await orReject(read, READ_MAX_MS, after).catch(() => null)
      isLate = true
      // An unfinished read stops at its next pause, or when its request ends.
      reads--
      if (answer === null) return unavailable('The archive is temporarily unavailable', 1_000)
      if (answer.ok) return ok(answer.snapshot)
      if (answer.kind === 'ahead') return notYet(coin, moment, live)
      return refused(moment, `no order book for ${textOf(moment)}: ${reasonOf(answer)}`)
    },
  }
}

async function notYet(coin: Coin, moment: PastMoment, live: Pick<Books, 'snapshot'>): Promise<Result<never, Failure>> {
  const present = await live.snapshot(coin, 1)
  const newest = present.ok ? present.value : null
  const isFuture = newest && ('height' in moment ? moment.height > newest.height : moment.timeMs > newest.time)
  if (!isFuture) return unavailable(`The order book for ${textOf(moment)} is not archived yet`, ARCHIVED_MS)
  return refused(moment, `is in the future: the newest block is ${newest.height}, with the time ${newest.time}`)
}

const textOf = (moment: PastMoment) => ('height' in moment ? `block ${moment.height}` : `the time ${moment.timeMs}`)

function reasonOf(why: BooksUnavailable): string {
  switch (why.kind) {
    case 'before':
      return 'the archive starts later'
    case 'damaged':
      return 'earlier checkpoints are damaged'
    case 'ahead':
      return 'it is not archived yet'
    case 'gap':
      return `blocks ${why.from} to ${why.to} are missing`
    case 'unknown':
      return `changes of block ${why.height} are unknown`
    case 'epoch':
      return `order books restarted at block ${why.height}`
  }
}

function refused(moment: PastMoment, message: string): Result<never, Failure> {
  return err({ kind: 'bad_field', issues: [{ path: 'height' in moment ? 'block_height' : 'time', message }] })
}

function unavailable(what: string, retryAfterMs: number): Result<never, Failure> {
  return err({ kind: 'unavailable', what, retryAfterMs })
}
