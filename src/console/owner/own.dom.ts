// What the sections of the owner's page ask for, and when again: after a change, and when this tab comes back, since another one may
// have changed something meanwhile.

import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Loaded, useLoaded } from '../loaded.dom.ts'

/** Grows when all is to be asked again. */
export const round = signal(0)
/** Grows while somebody looks: what is cheap and moves is asked again. */
export const pulse = signal(0)
const AWAY_MS = 10_000
const PULSE_MS = 5_000

/** Grows when something was spent: what says of what is asked again. */
export const spending = signal(0)

export const askAgain = () => void round.value++

/** An answer of the account's own endpoints, asked again in each round. */
export function useOwn<T>(path: () => string): Loaded<T> {
  return useLoaded<T>(() => (round.value < 0 ? null : path()))
}

/** Begins a round when the tab comes back after a while, and beats while it is seen. */
export function useReturns(): void {
  useEffect(() => {
    let leftMs = Date.now()
    const seen = () => {
      if (document.visibilityState === 'hidden') leftMs = Date.now()
      else if (Date.now() - leftMs > AWAY_MS) askAgain()
    }
    addEventListener('visibilitychange', seen)
    const beats = setInterval(() => {
      if (document.visibilityState === 'visible') pulse.value++
    }, PULSE_MS)
    return () => {
      clearInterval(beats)
      removeEventListener('visibilitychange', seen)
    }
  }, [])
}
