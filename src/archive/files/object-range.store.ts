// Reads a byte range of a file's object. Invariant: a missing, short or altered object causes an ArchiveDamage error.

import { ArchiveDamage } from '../archive/archive-read.ts'

export interface ObjectRange {
  readonly key: string
  /** The object's ETag when its rows were written. */
  readonly etag: string
  readonly offset: number
  readonly length: number
}

export async function bytesRange(
  bucket: Pick<R2Bucket, 'get'>,
  { key, etag, offset, length }: ObjectRange,
): Promise<Uint8Array<ArrayBuffer>> {
  const object = await bucket.get(key, { range: { offset, length }, onlyIf: { etagMatches: etag } })
  if (!object) throw new ArchiveDamage(key, 'missing')
  if (!('body' in object)) throw new ArchiveDamage(key, 'altered')
  const bytes = new Uint8Array(await object.arrayBuffer())
  if (bytes.length !== length) throw new ArchiveDamage(key, 'truncated')
  return bytes
}
