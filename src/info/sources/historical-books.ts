// Books of the past out of the archive. Law: whatever stands between a checkpoint and the height is said, and never guessed over.

import { type BooksArchive, type BooksUnavailable, bookAt } from '../../archive/replay/archived-books.ts'
import type { Coin } from '../../core/coin.ts'
import { type After, orReject } from '../../core/deadline.ts'
import type { Failure } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Books, HistoricalBooks } from '../ports.ts'

export interface HistoricalBooksDeps {
  /** Null where nothing is archived. */
  readonly archive: BooksArchive | null
  readonly live: Pick<Books, 'snapshot'>
  readonly after: After
}

/** Well below that of a flight. */
const READ_MAX_MS = 10_000
/** A block is archived so long after it came, at most. */
const ARCHIVED_MS = 90_000
/** Of an hour's blocks: more at once would fill the memory of an isolate. */
const READS_MOST = 2

export function archivedBooks({ archive, live, after }: HistoricalBooksDeps): HistoricalBooks {
  let reads = 0
  return {
    async at(coin, height) {
      if (archive === null) return err({ kind: 'unavailable', what: 'No book of the past is archived here' })
      if (reads >= READS_MOST) return unavailable('Books of the past are asked for too much at the moment', 1_000)
      reads++
      let isLate = false
      const rest = async () => {
        await new Promise<void>((go) => after(0, go))
        if (isLate) throw new Error('nobody waits any more')
      }
      const read = bookAt(archive, coin, height, { yield: rest })
      const answer = await orReject(read, READ_MAX_MS, after).catch(() => null)
      isLate = true
      // What is still under way ends with its next rest, or with its request.
      reads--
      if (answer === null) return unavailable('The archive cannot be read at the moment', 1_000)
      if (answer.ok) return ok(answer.snapshot)
      return answer.kind === 'ahead' ? notYet(coin, height, live) : err(missing(height, answer))
    },
  }
}

async function notYet(coin: Coin, height: number, live: Pick<Books, 'snapshot'>): Promise<Result<never, Failure>> {
  const present = await live.snapshot(coin, 1)
  const newest = present.ok ? present.value?.height : undefined
  if (newest === undefined || height <= newest) return unavailable(`Block ${height} is not archived yet`, ARCHIVED_MS)
  return refused(`block ${height} has not come yet: the newest is ${newest}`)
}

function missing(height: number, why: BooksUnavailable): Failure {
  const message = `no book of block ${height} is known: ${reasonOf(why)}`
  return { kind: 'bad_field', issues: [{ path: 'block_height', message }] }
}

function reasonOf(why: BooksUnavailable): string {
  switch (why.kind) {
    case 'before':
      return 'the archive begins later'
    case 'damaged':
      return 'the checkpoints before it are damaged'
    case 'ahead':
      return 'the archive does not reach it yet'
    case 'gap':
      return `blocks ${why.from} to ${why.to} are missing`
    case 'unknown':
      return `what block ${why.height} changed is not known`
    case 'epoch':
      return `books began anew with block ${why.height}`
  }
}

function refused(message: string): Result<never, Failure> {
  return err({ kind: 'bad_field', issues: [{ path: 'block_height', message }] })
}

function unavailable(what: string, retryAfterMs: number): Result<never, Failure> {
  return err({ kind: 'unavailable', what, retryAfterMs })
}
