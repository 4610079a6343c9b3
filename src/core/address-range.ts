// Ranges of addresses in CIDR form, IPv4 and IPv6, and whether they hold an address. Laws: what is not an address is in no
// range; an IPv4 address written as IPv6 (::ffff:1.2.3.4) is that IPv4 address, and no IPv6 range holds it.

import { err, ok, type Result } from './result.ts'

/** Ranges of one key. */
export const RANGES_MAX = 32

/** An address as groups of 16 bits: two of an IPv4 one, eight of an IPv6 one. */
type Groups = readonly number[]

interface Range {
  readonly network: Groups
  readonly prefix: number
}

/** The range as it is kept: in lower case, always with its prefix. A single address is a range too. */
export function parseRange(text: string): Result<string, string> {
  const range = readRange(text)
  if (range === null) return err('must be an address or a range such as 192.0.2.0/24 or 2001:db8::/32')
  const { network, prefix } = range
  const bare = network.map((group, i) => group & maskOf(prefix, i))
  if (bare.some((group, i) => group !== network[i])) {
    return err(`has bits beyond its prefix: write ${textOf(bare)}/${prefix}`)
  }
  return ok(`${textOf(network)}/${prefix}`)
}

/** Whether any of the ranges, as `parseRange` gives them, holds the address. */
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
  // A prefix of an IPv4 address that is written as IPv6 counts from the first of its 128 bits.
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

/** Groups between colons; the last may be an IPv4 address where the text ends the address. */
function readGroups(text: string, isEnd: boolean): number[] | null {
  if (text === '') return []
  const words = text.split(':')
  const groups: number[] = []
  for (const [i, word] of words.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(word)) {
      groups.push(Number.parseInt(word, 16))
      continue
    }
    const embedded = isEnd && i === words.length - 1 ? readIpv4(word) : null
    if (embedded === null) return null
    groups.push(...embedded)
  }
  return groups
}

/** The bits of the group at this place that belong to the network. */
function maskOf(prefix: number, place: number): number {
  const bits = Math.min(16, Math.max(0, prefix - place * 16))
  return (0xffff << (16 - bits)) & 0xffff
}

function textOf(groups: Groups): string {
  if (groups.length === 2) return groups.flatMap((group) => [group >> 8, group & 255]).join('.')
  const text = groups.map((group) => group.toString(16)).join(':')
  // The first longest run of zeros, as everyone writes it.
  const runs = [...text.matchAll(/(?:^|(?<=:))0(?::0)+(?=:|$)/g)].map(([run]) => run)
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest === '' ? text : text.replace(new RegExp(`(^|:)${longest}(:|$)`), '::')
}
