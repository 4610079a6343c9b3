// The header Stripe-Signature: when it was signed, and one or more signatures of the scheme v1. Other schemes are ignored.

/** Seconds that an event may be old, or ahead of this clock. */
const TOLERANCE_SECONDS = 300
/** While a secret is rolled there are two. */
const SIGNATURES_MAX = 8

export interface StripeSignature {
  /** As it is written: it is part of what was signed. */
  readonly time: string
  /** Hex. */
  readonly signatures: readonly string[]
}

/** Null where it is no such header. */
export function signatureOf(header: string | null): StripeSignature | null {
  const parts = (header ?? '').slice(0, 2_048).split(',')
  const valuesOf = (name: string) =>
    parts.flatMap((part) => (part.trim().startsWith(`${name}=`) ? [part.trim().slice(name.length + 1)] : []))
  const [time, another] = valuesOf('t')
  const signatures = valuesOf('v1')
    .filter((each) => /^[0-9a-f]{64}$/.test(each))
    .slice(0, SIGNATURES_MAX)
  if (time === undefined || another !== undefined || !/^\d{1,12}$/.test(time) || signatures.length === 0) return null
  return { time, signatures }
}

export function isInTime({ time }: StripeSignature, nowMs: number): boolean {
  return Math.abs(nowMs / 1000 - Number(time)) <= TOLERANCE_SECONDS
}
