// What `GET /admin/business` answers, as pages show it.

import type { Answers } from '../answers.ts'
import { useLoaded } from '../loaded.dom.ts'

export type Business = Answers['business']

/** Of this period; an empty query is the last month. */
export const useBusiness = (query: () => string) => useLoaded<Business>(() => `/admin/business${query()}`)
