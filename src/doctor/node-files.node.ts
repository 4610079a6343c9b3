// Looks twice at a node's files, so that what grows is seen to grow.

import { constants } from 'node:fs'
import { access, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StreamFiles } from '../feeder/stream-files.node.ts'
import { STREAM_FOLDER, STREAMS, type StreamName } from '../feeder/streams.ts'
import type { FilesFacts, StreamFacts } from './node-files.ts'

/** Between the two looks: a node writes several blocks a second, a slow devnet one. */
const LOOK_MS = 2_000

/** The facts, and the bytes by which the newest files of all streams grew between the two looks. */
export async function lookAtFiles(folder: string): Promise<FilesFacts & { readonly grownBytes: number }> {
  const state = await stateOf(folder)
  const sizes = () => Promise.all(STREAMS.map((name) => newestBytes(join(folder, STREAM_FOLDER[name]))))
  const startMs = Date.now()
  const first = await Promise.all(STREAMS.map((name) => headOf(folder, name)))
  const before = await sizes()
  if (state === 'there') await sleep(LOOK_MS)
  const streams = await Promise.all(
    STREAMS.map(async (name, i): Promise<StreamFacts> => {
      const after = await headOf(folder, name)
      return { name, state: await stateOf(join(folder, STREAM_FOLDER[name])), before: first[i] ?? null, after }
    }),
  )
  const after = await sizes()
  const nowMs = Date.now()
  const unbatched = (await readdir(folder).catch(() => [])).filter((name) => !name.endsWith('_by_block'))
  // A file of a new hour begins at nothing.
  const grownBytes = after.reduce((sum, bytes, i) => sum + Math.max(0, bytes - before[i]!), 0)
  return { folder, state, streams, unbatched, tookMs: nowMs - startMs, nowMs, grownBytes }
}

async function stateOf(folder: string): Promise<'absent' | 'unreadable' | 'there'> {
  if (!(await stat(folder).catch(() => null))?.isDirectory()) return 'absent'
  const mode = constants.R_OK | constants.X_OK
  return await access(folder, mode).then(
    () => 'there' as const,
    () => 'unreadable' as const,
  )
}

function headOf(folder: string, name: StreamName) {
  return new StreamFiles(join(folder, STREAM_FOLDER[name])).last()
}

async function newestBytes(folder: string): Promise<number> {
  const files = new StreamFiles(folder)
  const newest = (await files.list()).at(-1)
  return newest ? ((await stat(await files.path(newest)).catch(() => null))?.size ?? 0) : 0
}
