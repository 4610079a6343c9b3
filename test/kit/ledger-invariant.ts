// Invariant of an idle account, checked by the simulation, the crash harness and the soak test.

/** In micro-credits. */
export interface AccountSums {
  readonly granted: number
  readonly available: number
  readonly held: number
  readonly spent: number
  /** Sum of all usage rows. */
  readonly used: number
}

/** Checks that granted = available + held + spent, and that usage = spent. Returns the violation, or null. */
export function ledgerViolation({ granted, available, held, spent, used }: AccountSums): string | null {
  if (available + held + spent !== granted)
    return `${available} + ${held} + ${spent} micro-credits are not the ${granted} that were granted`
  return used === spent ? null : `${spent} micro-credits were spent, usage says ${used}`
}
