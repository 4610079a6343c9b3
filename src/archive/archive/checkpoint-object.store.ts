// The object of a checkpoint: one gzip member per book, after a first member with their lengths. A reader reads the
// books of a few coins as byte ranges. Invariant: a missing, truncated or altered object causes an ArchiveDamage error.

import { ArchiveDamage, type ArchivedBook } from './archive-read.ts'
import type { UploadedCheckpoint } from './backfill-api.ts'
import type { CheckpointHead } from './checkpoint-members.client.ts'
import { hexOf, sha256Of } from './gzip-lines.client.ts'
import { MEMBER_HEADER, memberBytes, memberLines } from './gzip-members.client.ts'

export interface ObjectDigest {
  readonly bytes: number
  readonly sha256: string
}

/** The first read, which is more than a mainnet head. */
const FIRST_BYTES = 32 * 1024
/** Consecutive books are read together, up to this many bytes. A larger book is read alone. */
const READ_BYTES = 512 * 1024

/** Yields the books of these coins or, if null, of all. */
export async function* checkpointBooks(
  bucket: Pick<R2Bucket, 'get'>,
  key: string,
  digest: ObjectDigest,
  coins: ReadonlySet<string> | null,
): AsyncGenerator<ArchivedBook> {
  const verified = new Set<string>()
  const read = (offset: number, length: number) => readRange(bucket, key, digest, { offset, length }, verified)
  const start = await read(0, Math.min(FIRST_BYTES, digest.bytes))
  const headBytes = orDamage(key, () => memberBytes(start, 0))
  const first = headBytes <= start.length ? start : await read(0, headBytes)
  const head = orDamage(key, () => JSON.parse(memberLines(first, 0)[0] ?? '') as CheckpointHead)
  for (const { offset, length } of rangesOf(head, headBytes, coins)) {
    const isRead = offset + length <= first.length
    const bytes = isRead ? first.subarray(offset, offset + length) : await read(offset, length)
    for (let at = 0; at < bytes.length; at += memberBytes(bytes, at)) yield bookAt(key, bytes, at)
  }
}

/** The first line of an object with this SHA-256 and its digest; null if there is no such object. */
export async function uploadedCheckpoint(
  bucket: Pick<R2Bucket, 'get'>,
  key: string,
  sha256: string,
): Promise<UploadedCheckpoint | null> {
  const object = await bucket.get(key, { range: { offset: 0, length: FIRST_BYTES } })
  const stored = object?.checksums.sha256
  if (!object || !stored || hexOf(stored) !== sha256) return null
  const bytes = object.size
  const start = new Uint8Array(await object.arrayBuffer())
  try {
    const { height, time, epoch, coins } = JSON.parse(memberLines(start, 0)[0] ?? '') as CheckpointHead
    return { height, time, epoch, coins, bytes, sha256 }
  } catch {
    return null
  }
}

function bookAt(key: string, bytes: Uint8Array, at: number): ArchivedBook {
  return orDamage(key, () => JSON.parse(memberLines(bytes, at)[0] ?? '') as ArchivedBook)
}

function rangesOf({ members }: CheckpointHead, headBytes: number, coins: ReadonlySet<string> | null) {
  const ranges: { offset: number; length: number }[] = []
  let offset = headBytes
  for (const [coin, length] of members) {
    const last = ranges.at(-1)
    if (coins !== null && !coins.has(coin)) {
      offset += length
      continue
    }
    if (last && last.offset + last.length === offset && last.length + length <= READ_BYTES) last.length += length
    else ranges.push({ offset, length })
    offset += length
  }
  return ranges
}

/** `verified`: ETags of versions that were read whole and were unaltered. */
async function readRange(
  bucket: Pick<R2Bucket, 'get'>,
  key: string,
  { bytes, sha256 }: ObjectDigest,
  range: { readonly offset: number; readonly length: number },
  verified: Set<string>,
): Promise<Uint8Array> {
  if (range.length < MEMBER_HEADER) throw new ArchiveDamage(key, 'truncated')
  const object = await bucket.get(key, { range })
  if (!object) throw new ArchiveDamage(key, 'missing')
  if (object.size < bytes) throw new ArchiveDamage(key, 'truncated')
  const stored = object.checksums.sha256
  const isSame = stored ? hexOf(stored) === sha256 : await isUnaltered(bucket, key, sha256, object.etag, verified)
  if (object.size !== bytes || !isSame) throw new ArchiveDamage(key, 'altered')
  const read = new Uint8Array(await object.arrayBuffer())
  if (read.length !== range.length) throw new ArchiveDamage(key, 'truncated')
  return read
}

/** A tool that restored the object may have stored no checksum with it. */
async function isUnaltered(
  bucket: Pick<R2Bucket, 'get'>,
  key: string,
  sha256: string,
  etag: string,
  verified: Set<string>,
): Promise<boolean> {
  const whole = verified.has(etag) ? null : await bucket.get(key)
  if (whole && (await sha256Of(new Uint8Array(await whole.arrayBuffer()))) === sha256) verified.add(whole.etag)
  return verified.has(etag)
}

function orDamage<T>(key: string, read: () => T): T {
  try {
    return read()
  } catch {
    throw new ArchiveDamage(key, 'altered')
  }
}
