// What `GET /status` answers, as far as the operator's pages show it.

import { useEffect } from 'preact/hooks'
import type * as z from 'zod'
import type { StatusShape } from '../../protocol/feed/status-shape.ts'
import { useLoaded } from '../loaded.dom.ts'

export type Status = z.infer<typeof StatusShape>
export type Feeder = Status['feeders'][number]
export type Region = Status['regions'][number]
export type Gap = Status['gaps'][number]
export type WrongBook = Status['wrongBooks'][number]
export type Source = Status['sources'][number]
export type ChainNode = Status['chains'][number]['nodes'][number]

const EVERY_MS = 5_000

/** Asked again every few seconds while the page is looked at. */
export function useStatus() {
  const status = useLoaded<Status>(() => '/status')
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') status.reload()
    }, EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return status
}
