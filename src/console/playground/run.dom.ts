// Runs GraphQL operations over one socket for each run. Invariants: tokens and keys stay in memory; at most one operation
// runs; a stopped run reports nothing more.

import { signal } from '@preact/signals'
import { type Client, createClient } from 'graphql-ws'
import { request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import * as strings from './playground-strings.ts'

interface Result {
  readonly number: number
  /** Since the start of the run. */
  readonly ms: number
  readonly text: string
}

interface Run {
  readonly state: keyof typeof strings.states
  /** The latest, newest first. */
  readonly results: readonly Result[]
  readonly count: number
  readonly firstMs: number | null
  readonly problem: string | null
}

const RESULTS_MAX = 50
const IDLE: Run = { state: 'idle', results: [], count: 0, firstMs: null, problem: null }
/** A token lives as long as a run may last in a tab that is forgotten. */
const TOKEN_MINUTES = 60

export const run = signal<Run>(IDLE)

let end: (() => void) | null = null

export function stopRun(): void {
  end?.()
  if (end !== null) run.value = { ...run.peek(), state: 'stopped' }
  end = null
}

/** `key`: an API key, or empty for a token of the session. */
export async function startRun(query: string, variables: Record<string, unknown> | null, key: string): Promise<void> {
  end?.()
  let isOver = false
  let client: Client | null = null
  const change = (next: Partial<Run>) => {
    if (!isOver) run.value = { ...run.peek(), ...next }
  }
  const finish = (next: Partial<Run>) => {
    change(next)
    if (!isOver) end = null
    isOver = true
    void client?.dispose()
  }
  end = () => {
    isOver = true
    void client?.dispose()
  }
  run.value = { ...IDLE, state: 'connecting' }
  const startedMs = performance.now()
  const access = key === '' ? await sessionToken() : { token: key }
  if (isOver) return
  if ('problem' in access) return finish({ state: 'failed', problem: access.problem })
  client = createClient({
    url: `${location.origin.replace('http', 'ws')}/graphql`,
    connectionParams: { SERVICE_API_KEY: access.token },
    retryAttempts: 0,
    on: { connected: () => change({ state: 'running' }) },
  })
  client.subscribe(
    { query, variables },
    {
      next: (payload) => {
        const { count, results, firstMs } = run.peek()
        const ms = Math.round(performance.now() - startedMs)
        const result = { number: count + 1, ms, text: JSON.stringify(payload, null, 2) }
        change({
          count: count + 1,
          firstMs: firstMs ?? ms,
          results: [result, ...results].slice(0, RESULTS_MAX),
          problem: problemOf(payload.errors) ?? run.peek().problem,
        })
      },
      error: (error) => finish({ state: 'failed', problem: reasonOf(error) }),
      complete: () => finish({ state: run.peek().problem === null ? 'done' : 'failed' }),
    },
  )
}

async function sessionToken(): Promise<{ readonly token: string } | { readonly problem: string }> {
  const body = { minutes: TOKEN_MINUTES }
  const result = await request<Responses['makeStreamToken']>('POST', '/platform/stream-tokens', body)
  return result.ok ? { token: result.value.token } : { problem: result.error.message }
}

const problemOf = (errors: readonly { readonly message: string }[] | undefined): string | null =>
  errors === undefined ? null : errors.map(({ message }) => message).join(' ')

/** Of a rejected document, a close event, or a socket that did not open. */
function reasonOf(error: unknown): string {
  if (Array.isArray(error)) return problemOf(error) ?? ''
  if (error instanceof CloseEvent) return strings.closed(error.code, error.reason)
  return strings.unreachable
}
