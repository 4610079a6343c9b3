// Writes the events of an export, one file per coin and day. Invariant: after an error, no incomplete file remains.

import { dayOf } from '../../archive/archive/archive-keys.ts'
import type { Coin } from '../../core/coin.ts'
import { HOUR_MS } from '../../core/time.ts'
import type { BookFile, CoinDay } from './book-file.ts'
import type { CoinEvent } from './history-tape.ts'

export interface WrittenFile extends CoinDay {
  readonly path: string
  readonly rows: number
  readonly gaps: number
}

interface OpenFile extends CoinDay {
  readonly dayMs: number
  readonly file: BookFile
  gaps: number
}

/** `progress` receives the time of an event about once per hour of data. */
export async function writeBooks(
  events: AsyncIterable<CoinEvent>,
  open: (of: CoinDay) => BookFile,
  progress: (timeMs: number) => void,
): Promise<WrittenFile[]> {
  const files = new Map<Coin, OpenFile>()
  const written: WrittenFile[] = []
  const finish = async ({ coin, day, file, gaps }: OpenFile) => {
    written.push({ coin, day, gaps, ...(await file.finish()) })
    files.delete(coin)
  }
  let hour = 0
  try {
    for await (const { coin, dayMs, event } of events) {
      let own = files.get(coin)
      if (own && own.dayMs !== dayMs) await finish(own)
      if (own?.dayMs !== dayMs) {
        const day = dayOf(dayMs)
        own = { coin, day, dayMs, gaps: 0, file: open({ coin, day }) }
        files.set(coin, own)
      }
      own.file.add(event)
      if (event.kind === 'gap') own.gaps++
      const now = Math.floor(event.timeMs / HOUR_MS)
      if (now > hour && hour > 0) progress(event.timeMs)
      hour = Math.max(hour, now)
    }
    for (const each of [...files.values()]) await finish(each)
  } finally {
    for (const { file } of files.values()) file.discard()
  }
  return written
}
