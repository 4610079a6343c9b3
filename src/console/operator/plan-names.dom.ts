// Names of the plans, to choose from.

import { useLoaded } from '../loaded.dom.ts'

export function usePlanNames(): readonly string[] {
  const plans = useLoaded<{ plans: { name: string }[] }>(() => '/admin/plans')
  return plans.value.value?.plans.map(({ name }) => name) ?? []
}
