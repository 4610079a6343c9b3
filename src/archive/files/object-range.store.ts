// Reads a byte range of a file's object. Invariant: a missing, short or altered object causes an ArchiveDamage error.

import { ArchiveDamage } from '../archive/archive-read.ts'

export interface ObjectRange {
  readonly key: string
  /** The object's ETag when its rows were written. */
  readonly etag: string
  readonly offset: number
  readonly length: number
}

/** Copies of ranges that are nearer than R2. */
export interface RangeCache {
  get(range: ObjectRange): Promise<Uint8Array<ArrayBuffer> | null>
  put(range: ObjectRange, bytes: Uint8Array<ArrayBuffer>): void
}

export interface RangeStorage {
  readonly bucket: Pick<R2Bucket, 'get'>
  readonly ranges?: RangeCache
}

export async function bytesRange(
  { bucket, ranges }: RangeStorage,
  range: ObjectRange,
): Promise<Uint8Array<ArrayBuffer>> {
  const cached = await ranges?.get(range)
  if (cached) return cached
  const { key, etag, offset, length } = range
  const object = await bucket.get(key, { range: { offset, length }, onlyIf: { etagMatches: etag } })
  if (!object) throw new ArchiveDamage(key, 'missing')
  if (!('body' in object)) throw new ArchiveDamage(key, 'altered')
  const bytes = new Uint8Array(await object.arrayBuffer())
  if (bytes.length !== length) throw new ArchiveDamage(key, 'truncated')
  ranges?.put(range, bytes)
  return bytes
}
