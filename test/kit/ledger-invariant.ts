// What holds of an account at rest, whoever looks: the simulation, the crash harness and the soak.

/** In micro-credits. */
export interface AccountSums {
  readonly granted: number
  readonly available: number
  readonly held: number
  readonly spent: number
  /** Of all rows of usage. */
  readonly used: number
}

/** What was granted is there, lent or spent, and usage is what was spent; null, or what does not hold. */
export function ledgerViolation({ granted, available, held, spent, used }: AccountSums): string | null {
  if (available + held + spent !== granted)
    return `${available} + ${held} + ${spent} micro-credits are not the ${granted} that were granted`
  return used === spent ? null : `${spent} micro-credits were spent, usage says ${used}`
}
