// Bodies for the engines' tests, read as a relay reads them.

import type { Wanted, WantedBooks, WantedEvents, WantedStates, WantedViews } from '../../src/relay/channel.ts'
import { readBody } from '../../src/relay/channels/catalogue.ts'

type Body = { readonly type: string } & Readonly<Record<string, unknown>>

/** Throws where the body is refused. */
export function wanted(body: Body): Wanted {
  const read = readBody(body)
  if (!read.ok) throw new Error(`${read.error.path}: ${read.error.message}`)
  return read.value
}

export function wantedBooks(body: Body): WantedBooks {
  const one = wanted(body)
  if (one.source !== 'books') throw new Error(`${body.type} is no channel of books`)
  return one
}

export function wantedEvents(body: Body): WantedEvents {
  const one = wanted(body)
  if (one.source !== 'events') throw new Error(`${body.type} is no channel of events`)
  return one
}

export function wantedViews(body: Body): WantedViews {
  const one = wanted(body)
  if (one.source !== 'views') throw new Error(`${body.type} is no channel of views`)
  return one
}

export function wantedStates(body: Body): WantedStates {
  const one = wanted(body)
  if (one.source !== 'states') throw new Error(`${body.type} is no channel of states`)
  return one
}
