// Requests at a given rate over kept connections: open loop, so that a slow answer does not slow the offer down, up to
// the number of connections.

import { Agent, request } from 'node:http'

export interface PacedLoad {
  readonly port: number
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly perSecond: number
  readonly ms: number
}

export interface PacedOutcome {
  readonly answers: number
  readonly perSecond: number
  /** Answers other than 200, and the first of them. */
  readonly failures: number
  readonly failure: string | null
}

const CONNECTIONS = 64
const TICK_MS = 2

/** Offers `perSecond` for `ms` and waits for the last answer. */
export async function pacedLoad(load: PacedLoad): Promise<PacedOutcome> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const start = performance.now()
  let sent = 0
  let open = 0
  let answers = 0
  let failures = 0
  let failure: string | null = null
  const send = async () => {
    sent++
    open++
    const { status, text } = await post(agent, load)
    open--
    answers++
    if (status === 200) return
    failures++
    failure ??= `${status} ${text.slice(0, 300)}`
  }
  const all: Promise<void>[] = []
  for (let elapsed = 0; elapsed < load.ms; elapsed = performance.now() - start) {
    // At least one at once: a rate of one a second begins with a request, not with a second.
    const due = 1 + Math.floor((elapsed * load.perSecond) / 1000)
    while (sent < due && open < CONNECTIONS) all.push(send())
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
  await Promise.all(all)
  agent.destroy()
  return { answers, perSecond: (answers * 1000) / (performance.now() - start), failures, failure }
}

function post(agent: Agent, { port, path, headers, body }: PacedLoad): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const ask = request({ agent, port, path, headers, host: '127.0.0.1', method: 'POST' }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (part: string) => (text += part))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
      answer.on('error', reject)
    })
    ask.on('error', reject)
    ask.end(body)
  })
}
