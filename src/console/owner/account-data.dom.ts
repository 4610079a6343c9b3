// Queries of the owner pages, and when they reload: after a change, and when the tab returns, because another tab may have
// changed something.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Query, useQuery } from '../queries.dom.ts'

/** Grows when every section must reload. */
export const dataVersion = signal(0)
/** Grows every few seconds while the tab is visible, for cheap data that changes often. */
export const heartbeat = signal(0)
const AWAY_MS = 10_000
const HEARTBEAT_MS = 5_000

/** Grows when credits were spent, for data about usage. */
export const spendVersion = signal(0)

export const refreshAll = () => void dataVersion.value++

/** A query of the account's own endpoints that reloads with `refreshAll`; null sends nothing. */
export function useAccountQuery<T>(path: () => string | null): Query<T> {
  return useQuery<T>(() => (dataVersion.value < 0 ? null : path()))
}

/** Refreshes all data when the tab returns after a while, and runs the heartbeat while it is visible. */
export function useRefreshOnReturn(): void {
  useEffect(() => {
    let hiddenMs = Date.now()
    const onVisibility = () => {
      if (document.visibilityState === 'hidden') hiddenMs = Date.now()
      else if (Date.now() - hiddenMs > AWAY_MS) refreshAll()
    }
    addEventListener('visibilitychange', onVisibility)
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') heartbeat.value++
    }, HEARTBEAT_MS)
    return () => {
      clearInterval(timer)
      removeEventListener('visibilitychange', onVisibility)
    }
  }, [])
}
