// The fields of a form as an order for /platform/keys/. Laws: of a key that is changed only what differs is sent, and what was
// emptied is taken away; amounts go as the text that was typed.

import type { Key } from './answers.ts'

interface Typed {
  readonly label: string
  readonly cap: string
  readonly ranges: string
  /** Of a service key; empty: what its restrictions say. */
  readonly pipelines: string
  /** A day, or empty. */
  readonly expires: string
}

export function keyOrder({ label, cap, ranges, expires, pipelines }: Typed, products: readonly string[], known?: Key) {
  const order = {
    label,
    products,
    cap: cap.trim() || null,
    ranges: listed(ranges),
    pipelines: pipelines || null,
    expires: expires === '' ? null : Date.parse(`${expires}T00:00:00Z`),
  }
  const before = known ?? { label: '', products: null, cap: null, ranges: null, pipelines: null, expires: null }
  const isKept = (name: keyof typeof order) =>
    JSON.stringify(order[name]) === JSON.stringify(before[name]) ||
    // The form shows days: an end within the day stays.
    (name === 'expires' && known?.expires != null && new Date(known.expires).toISOString().slice(0, 10) === expires)
  const names = (Object.keys(order) as (keyof typeof order)[]).filter((name) => !isKept(name))
  return Object.fromEntries(names.map((name) => [name, order[name]]))
}

function listed(ranges: string): readonly string[] | null {
  const list = ranges.split(/[\s,]+/).filter((range) => range !== '')
  return list.length === 0 ? null : list
}
