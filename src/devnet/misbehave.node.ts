// Carries faults out on a response: what a client of a broken server sees on the wire.

import type { ServerResponse } from 'node:http'
import type { Fault } from './misbehaviour.ts'

/** Connections that hang at one time; more than that are reset at once. */
const MAX_HANGING = 500
const GARBAGE = '<html>{"type": \u0000'
let hanging = 0

/** A late clock is a sound answer on the wire. */
export type OpenFault = Fault & { readonly how: Exclude<Fault['how'], 'lag'> }

/** Ends the response in place of a sound answer. `text`: the answer that there would have been. */
export function misbehave(response: ServerResponse, fault: OpenFault, text: string, nowMs: number): void {
  switch (fault.how) {
    case 'refuse':
      return reset(response)
    case 'hang':
      return hang(response, fault.endMs - nowMs)
    case '429': {
      if (fault.retryAfterS !== null) response.setHeader('retry-after', String(fault.retryAfterS))
      return void response.writeHead(429).end()
    }
    case '500':
      return void response.writeHead(500, { 'content-type': 'application/json' }).end('null')
    case 'cut':
      return cut(response, text)
    case 'garbage':
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(GARBAGE)
  }
}

function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy()
}

function hang(response: ServerResponse, forMs: number): void {
  if (hanging >= MAX_HANGING) return reset(response)
  hanging++
  const timer = setTimeout(() => reset(response), forMs)
  response.once('close', () => {
    clearTimeout(timer)
    hanging--
  })
}

/** The length of the whole with half of it. */
function cut(response: ServerResponse, text: string): void {
  const whole = Buffer.from(text)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
  response.write(whole.subarray(0, Math.floor(whole.length / 2)), () => response.destroy())
}
