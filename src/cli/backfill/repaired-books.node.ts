// Adds the changes of books to the blocks of a gap, if the source has them, and uploads checkpoints of the books. Invariants: the
// books of the source are compared with the archived ones before a block of the gap is sent; a checkpoint is uploaded before the
// blocks that make it count.

import { createHash } from 'node:crypto'
import { withBooks } from '../../archive/archive/backfill-lines.ts'
import type { CheckpointLines } from '../../archive/archive/checkpoint-lines.ts'
import { packCheckpoint } from '../../archive/archive/checkpoint-members.client.ts'
import type { Responses } from '../../console/responses.ts'
import { joinedBytes } from '../../core/chunks.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { HOUR_MS, MINUTE_MS } from '../../core/time.ts'
import { visible } from '../../core/visible.ts'
import type { GatewayClient } from '../gateway.node.ts'
import { linesOf } from './book-files.ts'
import { type BookArchive, BookContinuation, type BookJoin, booksAfter, joinBooks } from './book-join.ts'
import { decompress } from './decompress.node.ts'
import { fetchVerified } from './gateway-history.node.ts'
import { type ReadBlock, SourceError } from './read-blocks.ts'
import type { ArchivedGap, ArchivedRange } from './window.ts'

/** Where the checkpoints around a gap are looked for. They are written every 15 minutes, and when an epoch starts. */
const BEFORE_MS = 2 * HOUR_MS
const AFTER_MS = 30 * MINUTE_MS
const FILES_PER_PAGE = 1_000

type OwnFile = Responses['ownHistoryFiles']['files'][number]

/** The archive of the gateway cannot be read, which is no fault of the source. */
class OwnArchiveError extends Error {}

export interface BookPorts {
  readonly gateway: GatewayClient
  readonly held: ArchivedRange
  note(message: string): void
}

export class RepairedBooks {
  readonly #source: BookArchive | null
  readonly #ports: BookPorts
  /** The gap whose blocks are sent; `books` is null if its books stay unknown. */
  #current: { readonly gap: ArchivedGap; readonly books: BookContinuation | null } | null = null
  #uploaded: { readonly height: number; readonly sha256: string } | null = null
  /** Why the source is refused. */
  refusal: string | null = null

  /** `source`: null if the source has no books. */
  constructor(source: BookArchive | null, ports: BookPorts) {
    this.#source = source
    this.#ports = ports
  }

  /** The block with its changes of books, if they are known. Heights must rise. */
  async complete(block: ReadBlock): Promise<Result<ReadBlock, string>> {
    const gap = this.#source && this.#ports.held.gapOf(block.height)
    if (!gap || this.#source === null) return ok(block)
    try {
      if (this.#current?.gap !== gap) this.#current = { gap, books: await this.#join(this.#source, gap) }
      const { books } = this.#current
      if (this.refusal !== null) return err(this.refusal)
      const changes = await books?.changesAt(block.height)
      return ok(books && changes ? { ...block, line: withBooks(block.line, books.epoch, changes) } : block)
    } catch (error) {
      const reason = visible((error as Error).message)
      if (error instanceof OwnArchiveError) return err(`The archived order books cannot be read: ${reason}`)
      throw new SourceError(`The order books of the source cannot be read: ${reason}. Copy the archive again.`)
    }
  }

  /** Uploads a checkpoint of the books after the last block of a batch if one is due. Returns its SHA-256, or null. */
  async upload(batch: readonly ReadBlock[]): Promise<Result<string | null, string>> {
    const height = batch.at(-1)?.height ?? -1
    if (this.#uploaded?.height === height) return ok(this.#uploaded.sha256)
    const due = this.#current?.books?.advance(height) ?? null
    if (due === null) return ok(null)
    const sha256 = await this.#upload(due)
    if (sha256.ok) this.#uploaded = { height, sha256: sha256.value }
    return sha256
  }

  async #join(source: BookArchive, gap: ArchivedGap): Promise<BookContinuation | null> {
    const join = await joinBooks(await this.#ownBooks(gap), source, gap)
    if (join.kind === 'contradiction') this.refusal = `The source is rejected: ${join.reason}.`
    else this.#ports.note(joinText(gap, join))
    if (join.kind !== 'joined') return null
    // The links may have expired, because a long gap takes long to read.
    const before = await booksAfter(await this.#ownBooks(gap), gap.from - 1)
    return before && new BookContinuation(before, source, join.to)
  }

  /** The archived books around a gap. */
  async #ownBooks({ after_ms: afterMs, before_ms: beforeMs }: ArchivedGap): Promise<BookArchive> {
    const before = await this.#ownFiles('books,checkpoints', Math.max(0, afterMs - BEFORE_MS), afterMs)
    const afterFromMs = Math.max(afterMs + 1, beforeMs - MINUTE_MS)
    const after = await this.#ownFiles('checkpoints', afterFromMs, beforeMs + AFTER_MS)
    const of = (name: string) =>
      [...before, ...after]
        .filter(({ product }) => product === name)
        .toSorted((a, b) => a.from_height - b.from_height)
        .map((file) => {
          const { from_height: first, to_height: last } = file
          return { height: first, first, last, lines: () => this.#ownLines(file) }
        })
    return { segments: of('books'), checkpoints: of('checkpoints') }
  }

  async #ownFiles(products: string, fromMs: number, toMs: number): Promise<OwnFile[]> {
    const files: OwnFile[] = []
    const range = { products, from: String(fromMs), to: String(toMs), limit: String(FILES_PER_PAGE) }
    for (let query: Record<string, string> = range; ; ) {
      const path = `/admin/history/files?${new URLSearchParams(query)}`
      const page = await this.#ports.gateway.request<Responses['ownHistoryFiles']>('GET', path, ['files', 'next'])
      if (!page.ok) throw new OwnArchiveError(page.error)
      files.push(...page.value.files)
      if (page.value.next === null) return files
      query = { ...range, after: page.value.next }
    }
  }

  async *#ownLines(file: OwnFile): AsyncGenerator<string> {
    const bytes = await fetchVerified(this.#ports.gateway, file).catch((error: Error) => {
      throw new OwnArchiveError(`${file.key}: ${error.message}`)
    })
    yield* linesOf(decompress(file.key, once(bytes)))
  }

  async #upload({ head, lines }: CheckpointLines): Promise<Result<string, string>> {
    const body = joinedBytes(await packCheckpoint(head, lines))
    const sha256 = createHash('sha256').update(body).digest('hex')
    const query = new URLSearchParams({ height: String(head.height), bytes: String(body.length), sha256 })
    const sent = await this.#ports.gateway.sendPacked<Responses['uploadCheckpoint']>(
      `/admin/history/checkpoints?${query}`,
      ['stored'],
      body,
    )
    return sent.ok ? ok(sha256) : err(sent.error.sentence)
  }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

function joinText({ from, to }: ArchivedGap, join: Exclude<BookJoin, { kind: 'contradiction' }>): string {
  const gap = `the gap ${from} to ${to}`
  if (join.kind === 'unknown') return `Books of ${gap} stay unknown: ${join.reason}.`
  const part = join.to === to ? '' : ` up to block ${join.to}`
  const verified = join.isVerified
    ? 'before and after the gap'
    : 'only before the gap, because it does not reach the next checkpoint'
  return `Books of ${gap} are known${part}. They were compared with the archived books ${verified}.`
}
