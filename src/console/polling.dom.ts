// Reloads a query every few seconds while the page is visible, less often while it fails.

import { useEffect } from 'preact/hooks'
import { backoffMs } from '../core/backoff.ts'
import type { Query } from './queries.dom.ts'

/** After repeated failures, the interval is at most this many times as long. */
const LONGEST = 12

export function usePolling({ error, reload }: Pick<Query<unknown>, 'error' | 'reload'>, everyMs: number): void {
  useEffect(() => {
    let failures = 0
    let timer: ReturnType<typeof setTimeout>
    const poll = () => {
      clearTimeout(timer)
      if (document.visibilityState === 'visible') {
        failures = error.peek() === null ? 0 : failures + 1
        reload()
      }
      timer = setTimeout(poll, backoffMs({ firstMs: everyMs, capMs: LONGEST * everyMs, jitter: 0 }, failures, 0))
    }
    const onVisible = () => {
      if (document.visibilityState === 'visible') poll()
    }
    timer = setTimeout(poll, everyMs)
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [])
}
