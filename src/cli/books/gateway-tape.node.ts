// Reads the archive of a gateway for an export. Invariants: a few files are fetched ahead, so memory is bounded; a file that cannot be
// fetched or read ends the export, because skipping it would look like a gap of the archive.

import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import type { ArchivedBook, ArchivedCheckpoint } from '../../archive/archive/archive-read.ts'
import { visible } from '../../core/visible.ts'
import { fetchVerified, type HistoryFile, type HistoryGateway, historyFiles } from '../backfill/gateway-history.node.ts'
import { SourceError } from '../backfill/read-blocks.ts'
import { textLines } from '../backfill/text-lines.ts'
import type { TapeSource } from './history-tape.ts'

/** Files that are fetched before they are needed, about 3 MB each. */
const AHEAD = 4
const TRIES = 4
/** A line has all changes of a block or a whole book, which is far smaller. */
const LINE_CHARS = 64 * 1024 * 1024
/** A checkpoint is large, and only one is used, so its link is listed alone. */
const CHECKPOINT_PAGE = 1

interface CheckpointHead extends ArchivedCheckpoint {
  readonly members: readonly (readonly [coin: string, bytes: number])[]
}

/** `onCost` receives the credits charged for links. `retryMs`: pause before the first retry of a file. */
export function gatewayTape(gateway: HistoryGateway, onCost: (credits: number) => void, retryMs: number): TapeSource {
  const fetch = (file: HistoryFile) => fetched(gateway, file, retryMs)
  return {
    async *segments(kind, range) {
      for await (const { file, bytes } of fetchedAhead(historyFiles(gateway, kind, range, onCost), fetch))
        yield { first: file.from_height, last: file.to_height, lines: () => linesOf(file, bytes) }
    },
    async *checkpoints(range) {
      for await (const file of historyFiles(gateway, 'checkpoints', range, onCost, CHECKPOINT_PAGE))
        yield {
          height: file.from_height,
          timeMs: file.from_ms,
          read: async (coins) => readCheckpoint(linesOf(file, await fetch(file)), coins),
        }
    },
  }
}

async function readCheckpoint(lines: AsyncIterable<string>, selected: ReadonlySet<string>) {
  let head: CheckpointHead | null = null
  const books: ArchivedBook[] = []
  const starts = [...selected].map((coin) => `{"coin":${JSON.stringify(coin)},`)
  for await (const line of lines) {
    if (head === null) head = JSON.parse(line) as CheckpointHead
    else if (starts.some((start) => line.startsWith(start))) books.push(JSON.parse(line) as ArchivedBook)
  }
  if (head === null) throw new SourceError('A checkpoint of the gateway is empty. Export a different range.')
  return { head, coins: head.members.map(([coin]) => coin), books }
}

interface Fetched {
  readonly file: HistoryFile
  readonly bytes: Uint8Array
}

async function* fetchedAhead(
  files: AsyncIterable<HistoryFile>,
  fetch: (file: HistoryFile) => Promise<Uint8Array>,
): AsyncGenerator<Fetched> {
  const queue: Promise<Fetched>[] = []
  for await (const file of files) {
    const fetching = fetch(file).then((bytes) => ({ file, bytes }))
    // A failure is reported when its turn comes.
    fetching.catch(() => {})
    queue.push(fetching)
    const oldest = queue.length > AHEAD ? queue.shift() : undefined
    if (oldest) yield await oldest
  }
  for (const each of queue) yield await each
}

async function fetched(gateway: HistoryGateway, file: HistoryFile, retryMs: number): Promise<Uint8Array> {
  for (let tries = 1; ; tries++) {
    try {
      return await fetchVerified(gateway, file)
    } catch (error) {
      if (tries === TRIES)
        throw new SourceError(
          `${visible(file.key)} cannot be fetched (${visible((error as Error).message)}). Try again.`,
        )
      await sleep(retryMs * tries)
    }
  }
}

async function* linesOf({ key }: HistoryFile, bytes: Uint8Array): AsyncGenerator<string> {
  const gunzip = createGunzip()
  gunzip.end(bytes)
  try {
    for await (const { text } of textLines(gunzip, LINE_CHARS)) yield text
  } catch (error) {
    throw new SourceError(`${visible(key)} cannot be read (${visible((error as Error).message)}).`)
  }
}
