// What `GET /status` answers, as far as the operator's pages show it.

import { useEffect } from 'preact/hooks'
import { useLoaded } from '../loaded.dom.ts'

export interface Feeder {
  readonly name: string
  readonly connected: boolean
  readonly state: string | null
  readonly conflict: string | null
  readonly heardMs: number
  readonly head: number | null
  readonly lagMs: number | null
  readonly why: string | null
  readonly counters: {
    readonly unacked: number
    readonly reconnects: number
    readonly misfits: number
    readonly drifted: number
  } | null
}
export interface Region {
  readonly region: string
  readonly relays: number
  readonly sockets: number
  readonly p50Ms: number
  readonly p99Ms: number
}
export interface Gap {
  readonly from: number
  readonly to: number
  readonly why: string | null
  readonly atMs: number | null
}
export interface WrongBook {
  readonly feeder: string
  readonly coin: string
  readonly height: number
  readonly count: number
  readonly atMs: number
  readonly why: string
}
export interface Source {
  readonly name: string
  readonly state: string
  readonly retryInMs: number
  readonly failingTypes: readonly string[]
  readonly lastSuccessMs: number | null
  readonly lastFailure: { readonly atMs: number; readonly type: string; readonly reason: string } | null
  readonly medianMs: number | null
  readonly lagMs: number | null
  readonly late: boolean
  readonly budget: { readonly perMinute: number; readonly left: number | null } | null
}
export interface ChainNode {
  readonly state: string
  readonly lastSuccessMs: number | null
  readonly lastFailure: { readonly atMs: number; readonly reason: string } | null
}
export interface Status {
  readonly state: string
  readonly advice: string
  readonly chain: string
  readonly epoch: string | null
  readonly height: number | null
  readonly durable: number | null
  readonly lagMs: number | null
  readonly booksKnown: boolean
  readonly feeders: readonly Feeder[]
  readonly readers: readonly { readonly name: string; readonly height: number | null }[]
  readonly regions: readonly Region[]
  readonly archive: {
    readonly height: number | null
    readonly behind: number | null
    readonly lagMs: number | null
    readonly segments: number | null
    readonly failure: { readonly atMs: number; readonly words: string } | null
  } | null
  readonly gaps: readonly Gap[]
  readonly disagreements: number
  readonly wrongBooks: readonly WrongBook[]
  readonly sources: readonly Source[]
  readonly chains: readonly {
    readonly name: string
    readonly height: number | null
    readonly nodes: readonly ChainNode[]
  }[]
}

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
