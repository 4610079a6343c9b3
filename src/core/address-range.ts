// CIDR ranges of IPv4 and IPv6 addresses. Invariants: a string that is not an address matches no range; an IPv4-mapped
// IPv6 address (::ffff:1.2.3.4) is treated as IPv4 and matches no IPv6 range.

import { err, ok, type Result } from './result.ts'

/** Maximum number of ranges per key. */
export const RANGES_MAX = 32

/** The 16-bit groups of an address: two for IPv4, eight for IPv6. */
type Groups = readonly number[]

interface Range {
  readonly network: Groups
  readonly prefix: number
}

/** Returns a range in stored form: lower case, with a prefix. A single address is also a range. */
export function parseRange(text: string): Result<string, string> {
  const range = readRange(text)
  if (range === null) return err('must be an address or a range such as 192.0.2.0/24 or 2001:db8::/32')
  const { network, prefix } = range
  const bare = network.map((group, i) => group & maskOf(prefix, i))
  if (bare.some((group, i) => group !== network[i])) {
    return err(`has bits beyond its prefix. Write ${textOf(bare)}/${prefix}`)
  }
  return ok(`${textOf(network)}/${prefix}`)
}

/** Whether an address is in one of the ranges, which must be in the form that `parseRange` returns. */
export function holdsAddress(ranges: readonly string[], address: string): boolean {
  const groups = readAddress(address)
  if (groups === null) return false
  return ranges.some((text) => {
    const range = readRange(text)
    if (range === null || range.network.length !== groups.length) return false
    return groups.every((group, i) => (group & maskOf(range.prefix, i)) === range.network[i])
  })
}

function readRange(text: string): Range | null {
  const [address = '', prefix, more] = text.split('/')
  const network = readAddress(address)
  if (network === null || more !== undefined) return null
  const bits = network.length * 16
  if (prefix === undefined) return { network, prefix: bits }
  // If an IPv4 address is written as IPv6, its prefix length counts from the first of 128 bits.
  const before = address.includes(':') ? 128 - bits : 0
  const length = /^(0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) - before : -1
  return length < 0 || length > bits ? null : { network, prefix: length }
}

function readAddress(text: string): Groups | null {
  const groups = text.includes(':') ? readIpv6(text) : readIpv4(text)
  const isMapped = groups?.length === 8 && groups.every((group, i) => i > 5 || group === (i === 5 ? 0xffff : 0))
  return groups !== null && isMapped ? groups.slice(6) : groups
}

function readIpv4(text: string): Groups | null {
  const bytes = text.split('.')
  if (bytes.length !== 4 || !bytes.every((byte) => /^(0|[1-9]\d{0,2})$/.test(byte) && Number(byte) < 256)) return null
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number)
  return [a * 256 + b, c * 256 + d]
}

function readIpv6(text: string): Groups | null {
  const [head = '', tail, more] = text.split('::')
  if (more !== undefined) return null
  const front = readGroups(head, tail === undefined)
  const back = tail === undefined ? [] : readGroups(tail, true)
  if (front === null || back === null) return null
  const missing = 8 - front.length - back.length
  if (tail === undefined ? missing !== 0 : missing < 1) return null
  return [...front, ...Array.from({ length: missing }, () => 0), ...back]
}

/** Parses the groups between colons. If the string is the end of the address, its last group may be an IPv4 address. */
function readGroups(text: string, isEnd: boolean): number[] | null {
  if (text === '') return []
  const parts = text.split(':')
  const groups: number[] = []
  for (const [i, part] of parts.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(Number.parseInt(part, 16))
      continue
    }
    const embedded = isEnd && i === parts.length - 1 ? readIpv4(part) : null
    if (embedded === null) return null
    groups.push(...embedded)
  }
  return groups
}

/** Mask of the network bits in one group. */
function maskOf(prefix: number, index: number): number {
  const bits = Math.min(16, Math.max(0, prefix - index * 16))
  return (0xffff << (16 - bits)) & 0xffff
}

function textOf(groups: Groups): string {
  if (groups.length === 2) return groups.flatMap((group) => [group >> 8, group & 255]).join('.')
  const text = groups.map((group) => group.toString(16)).join(':')
  // RFC 5952: shorten the first of the longest runs of zeros.
  const runs = [...text.matchAll(/(?:^|(?<=:))0(?::0)+(?=:|$)/g)].map(([run]) => run)
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest === '' ? text : text.replace(new RegExp(`(^|:)${longest}(:|$)`), '::')
}
