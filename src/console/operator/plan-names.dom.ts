// Names of the plans, to choose from.

import type { Answers } from '../answers.ts'
import { useLoaded } from '../loaded.dom.ts'

export function usePlanNames(): readonly string[] {
  const plans = useLoaded<Answers['listPlans']>(() => '/admin/plans')
  return plans.value.value?.plans.map(({ name }) => name) ?? []
}
