// Asks the node for its order-level snapshot: the node writes a file beside us, we read it and remove it.

import { createReadStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { SnapshotBooks } from './book-keeper.ts'
import { OrderBooks } from './order-books.ts'
import { SnapshotScanner } from './snapshot-file.ts'

/** The real exchange's snapshot is hundreds of megabytes. */
const ANSWER_TIMEOUT_MS = 120_000
const PROBE_TIMEOUT_MS = 5_000
const ERROR_UNITS = 200
let asked = 0

/** Books of the node as of a height that it chooses. Throws with a sentence where there are none to be had. */
export async function fetchSnapshot(infoUrl: string, folder: string, signal: AbortSignal): Promise<SnapshotBooks> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, `l4-snapshot-${process.pid}-${++asked}.json`)
  try {
    await requestSnapshot(infoUrl, path, signal)
    return await readSnapshot(path, signal)
  } finally {
    await rm(path, { force: true })
  }
}

/** Why the node's HTTP is of no use, null where it answers. */
export async function infoTrouble(infoUrl: string, signal: AbortSignal): Promise<string | null> {
  const what = `the node's HTTP at ${new URL(infoUrl).host} (--info)`
  const hint = 'run the node with --serve-info and give its address; until then no books can begin or be compared'
  try {
    const response = await ask(infoUrl, { type: 'exchangeStatus' }, signal, PROBE_TIMEOUT_MS)
    await response.body?.cancel()
    // A node that does not know the type says so: it is there.
    return [404, 405].includes(response.status) || response.status >= 500
      ? `${what} answers ${response.status}: ${hint}`
      : null
  } catch (error) {
    return `${what} cannot be reached (${sentenceOf(error)}): ${hint}`
  }
}

/** The first line of an error and of what caused it. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error as { cause?: NodeJS.ErrnoException }
  const why = cause instanceof Error ? cause.message || cause.code : undefined
  return `${error.message.split('\n')[0]}${why ? `: ${why}` : ''}`
}

async function ask(infoUrl: string, body: object, signal: AbortSignal, timeoutMs: number): Promise<Response> {
  return await fetch(`${infoUrl.replace(/\/(?:info\/?)?$/, '')}/info`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  })
}

async function requestSnapshot(infoUrl: string, outPath: string, signal: AbortSignal): Promise<void> {
  const body = {
    type: 'fileSnapshot',
    request: { type: 'l4Snapshots', includeUsers: true, includeTriggerOrders: false },
    outPath,
    includeHeightInOutput: true,
  }
  const response = await ask(infoUrl, body, signal, ANSWER_TIMEOUT_MS)
  const text = await response.text()
  if (!response.ok)
    throw new Error(`the node answered fileSnapshot with ${response.status}: ${text.slice(0, ERROR_UNITS)}`)
}

/** Reads a snapshot file with a height in it. Throws where it is cut off or has none. */
async function readSnapshot(path: string, signal: AbortSignal): Promise<SnapshotBooks> {
  const scanner = new SnapshotScanner()
  const books = new OrderBooks()
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: 1024 * 1024, signal })
  for await (const chunk of stream)
    for (const { coin, orders } of scanner.push(chunk as string)) books.load({ coin, known: true, orders })
  if (!scanner.complete) throw new Error('the snapshot that the node wrote is cut off')
  if (scanner.height === null) throw new Error('the snapshot that the node wrote has no height in it')
  return { height: scanner.height, books }
}
