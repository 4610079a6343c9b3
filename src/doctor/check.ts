// What the doctor says of one thing: a line for a person. Law: what others wrote (a node, a gateway) reaches a terminal
// without its control characters, and shortened.

export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'FAIL'
  readonly saw: string
  /** What to do; nothing where all is well. */
  readonly fix?: string
  /** What of Weir or the node is at fault, where that is known. */
  readonly part?: 'devnet' | 'gateway' | 'feeder'
}

const SHOWN_UNITS = 300

export const ok = (name: string, saw: string): Check => ({ name, state: 'ok', saw: shown(saw) })
export const warn = (name: string, saw: string, fix: string): Check => ({
  name,
  state: 'warn',
  saw: shown(saw),
  fix: shown(fix),
})
export const fail = (name: string, saw: string, fix: string): Check => ({
  name,
  state: 'FAIL',
  saw: shown(saw),
  fix: shown(fix),
})

export function lineOf({ name, state, saw, fix }: Check): string {
  return `${state.padEnd(5)} ${name.padEnd(12)} ${saw}${fix === undefined ? '' : `. ${fix}`}`
}

function shown(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
  return plain.length > SHOWN_UNITS ? `${plain.slice(0, SHOWN_UNITS)}…` : plain
}

/** `1.5 s` of milliseconds. */
export function secondsText(ms: number): string {
  return `${(Math.abs(ms) / 1000).toFixed(Math.abs(ms) < 10_000 ? 1 : 0)} s`
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

/** `1.5 GB` of bytes. */
export function bytesText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return `${(bytes / 1000 ** step).toFixed(step > 0 ? 1 : 0)} ${UNITS[step]}`
}
