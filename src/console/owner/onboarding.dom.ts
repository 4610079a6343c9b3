// Which first steps an account has taken, kept in this browser, so that the list does not return in a quiet month.

export const STEPS = ['call', 'stream', 'alert'] as const
type Step = (typeof STEPS)[number]

const HIDDEN = 'hidden'
const nameOf = (account: string) => `weir-start-${account}`

/** Browsers may deny access to the storage. */
function marksOf(account: string): readonly string[] {
  try {
    return (localStorage.getItem(nameOf(account)) ?? '').split(' ')
  } catch {
    return []
  }
}

function remember(account: string, marks: readonly string[]): void {
  const known = marksOf(account)
  if (marks.every((mark) => known.includes(mark))) return
  try {
    localStorage.setItem(nameOf(account), [...new Set([...known, ...marks])].join(' ').trim())
  } catch {
    // The list is then shown again on the next visit.
  }
}

export const startedSteps = (account: string) => STEPS.filter((step) => marksOf(account).includes(step))
export const rememberSteps = (account: string, done: Readonly<Record<Step, boolean>>) =>
  remember(
    account,
    STEPS.filter((step) => done[step]),
  )
export const isOnboardingHidden = (account: string) => marksOf(account).includes(HIDDEN)
export const hideOnboarding = (account: string) => remember(account, [HIDDEN])
