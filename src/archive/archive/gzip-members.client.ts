// Compresses text into gzip members that can be decompressed one at a time, so that a reader needs memory for one member
// only. Together they are a normal gzip file. Each member states its length in an extra field of its header, as in BGZF.
// Invariant: the same text always produces the same bytes.

import { gunzipSync, gzipSync } from 'node:zlib'
import { YIELD_MS } from '../../core/time.ts'
import { sleep } from '../../core/timers.client.ts'

/** Lines are collected into members of this many characters, about 5 ms of work each. A longer line is one member. */
const MEMBER_CHARS = 128 * 1024

/** Magic number, method, and the flag of an extra field. */
const START = [0x1f, 0x8b, 8, 4] as const
/** Length of a gzip header without extra fields. */
const PLAIN_HEADER = 10
/** Length of all extra fields, then the id `WR`, the length and the value of ours. */
const EXTRA = [8, 0, 0x57, 0x52, 4, 0] as const
const LENGTH_AT = PLAIN_HEADER + EXTRA.length
/** Bytes of a member that contain its length. */
export const MEMBER_HEADER = LENGTH_AT + 4

const decoder = new TextDecoder()

/** Yields to other work first, because compression is synchronous. */
export async function packMember(text: string): Promise<Uint8Array> {
  await sleep(YIELD_MS)
  const plain = gzipSync(text)
  const member = new Uint8Array(plain.length + MEMBER_HEADER - PLAIN_HEADER)
  member.set(plain.subarray(0, PLAIN_HEADER))
  member.set(START)
  member.set(EXTRA, PLAIN_HEADER)
  new DataView(member.buffer).setUint32(LENGTH_AT, member.length, true)
  member.set(plain.subarray(PLAIN_HEADER), MEMBER_HEADER)
  return member
}

/** Packs lines, each of which ends with a newline. */
export async function packLines(lines: readonly string[]): Promise<Uint8Array[]> {
  const members: Uint8Array[] = []
  let text = ''
  for (const line of lines) {
    text += `${line}\n`
    if (text.length < MEMBER_CHARS) continue
    members.push(await packMember(text))
    text = ''
  }
  if (text !== '') members.push(await packMember(text))
  return members
}

/** Length of the member that starts at offset `at`. Throws if there is no member. */
export function memberBytes(bytes: Uint8Array, at: number): number {
  const isMember =
    at + MEMBER_HEADER <= bytes.length &&
    START.every((byte, index) => bytes[at + index] === byte) &&
    EXTRA.every((byte, index) => bytes[at + PLAIN_HEADER + index] === byte)
  const length = isMember ? new DataView(bytes.buffer, bytes.byteOffset + at).getUint32(LENGTH_AT, true) : 0
  if (length <= MEMBER_HEADER) throw new Error(`no gzip member at byte ${at}`)
  return length
}

/** Lines of the complete member that starts at offset `at`. Throws if it is damaged. */
export function memberLines(bytes: Uint8Array, at: number): string[] {
  const end = at + memberBytes(bytes, at)
  if (end > bytes.length) throw new Error(`the gzip member at byte ${at} is truncated`)
  return decoder
    .decode(gunzipSync(bytes.subarray(at, end)))
    .slice(0, -1)
    .split('\n')
}

/** Yields the lines of consecutive members. */
export function* unpackLines(bytes: Uint8Array): Generator<string> {
  for (let at = 0; at < bytes.length; at += memberBytes(bytes, at)) yield* memberLines(bytes, at)
}
