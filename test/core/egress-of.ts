// Egress rules with test settings.

import { Egress } from '../../src/core/egress.client.ts'
import type { EgressSettings } from '../../src/core/egress.ts'

export const CLOSED: EgressSettings = {
  PIPELINE_PRIVATE: false,
  PIPELINE_RESOLVER: 'https://resolver.example/',
  PUBLIC_URL: '',
  OWN_ZONES: [],
}

export const egressOf = (change: Partial<EgressSettings> = {}, fetcher: typeof fetch = fetch) =>
  new Egress({ ...CLOSED, ...change }, fetcher)
