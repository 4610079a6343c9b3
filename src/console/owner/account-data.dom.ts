// What the sections of the owner's page ask for, and when again: after a change, and when this tab comes back, since another one may
// have changed something meanwhile.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Query, useQuery } from '../queries.dom.ts'

/** Grows when all is to be asked again. */
export const dataVersion = signal(0)
/** Grows while somebody looks: what is cheap and moves is asked again. */
export const heartbeat = signal(0)
const AWAY_MS = 10_000
const HEARTBEAT_MS = 5_000

/** Grows when something was spent: what says of what is asked again. */
export const spendVersion = signal(0)

export const refreshAll = () => void dataVersion.value++

/** An answer of the account's own endpoints, asked again in each round. */
export function useAccountQuery<T>(path: () => string): Query<T> {
  return useQuery<T>(() => (dataVersion.value < 0 ? null : path()))
}

/** Begins a round when the tab comes back after a while, and beats while it is seen. */
export function useRefreshOnReturn(): void {
  useEffect(() => {
    let leftMs = Date.now()
    const seen = () => {
      if (document.visibilityState === 'hidden') leftMs = Date.now()
      else if (Date.now() - leftMs > AWAY_MS) refreshAll()
    }
    addEventListener('visibilitychange', seen)
    const beats = setInterval(() => {
      if (document.visibilityState === 'visible') heartbeat.value++
    }, HEARTBEAT_MS)
    return () => {
      clearInterval(beats)
      removeEventListener('visibilitychange', seen)
    }
  }, [])
}
