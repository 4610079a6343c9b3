// Channels of the public server that show what one answer says of a user: the whole again each time, every few seconds and
// soon after something happened to him.

import * as z from 'zod'
import { DexName, isAllDexes } from '../../protocol/info/request-fields.ts'
import { defineStateChannel, type InfoQuestion, ONE_CREDIT, type StateAnswer } from '../channel.ts'

/** As the public server does; what depends on prices moves without an event. */
export const USER_STATE_MS = 4_500

/** `""`, or left out: the main DEX. */
export const StateDex = DexName.refine(
  (dex) => dex !== '*' && !isAllDexes(dex),
  'must be one DEX: no wildcard here',
).default('')

interface UserStateDefinition<Type extends string, Body, Data extends z.ZodType> {
  readonly type: Type
  readonly summary: string
  /** Its output is how the public server acknowledges a body. */
  readonly request: z.ZodType<Body>
  readonly data: Data
  readonly example: { readonly request: Readonly<Record<string, unknown>>; readonly data: unknown }
  readonly ask: (body: Body) => InfoQuestion
  readonly everyMs?: number
  readonly coin?: (body: Body) => string
  /** JSON of `data`, of the answer's. */
  readonly show: (body: Body, answer: StateAnswer) => string
}

export function userStateChannel<
  const Type extends string,
  Body extends { readonly type: Type } & Readonly<Record<string, unknown>>,
  Data extends z.ZodType,
>({ type, data, example, ask, everyMs = USER_STATE_MS, show, ...more }: UserStateDefinition<Type, Body, Data>) {
  return defineStateChannel({
    ...more,
    type,
    example: { request: example.request, frame: { channel: type, data: example.data } },
    echo: (body: Body) => body,
    frame: z.object({ channel: z.literal(type), data }),
    price: ONE_CREDIT,
    source: 'states',
    asks: (body) => [[ask(body), everyMs]],
    keep: (answer) => answer,
    data: (body, [answer]) => show(body, answer!),
    repeats: true,
  })
}

/** The field of a question about one DEX. */
export function onDex(dex: string): { readonly dex?: string } {
  return dex === '' ? {} : { dex }
}
